"""Guaranteed pods on nodes whose NUMA policy would admit them."""

from .plugin import NumaAware

__all__ = ["NumaAware"]

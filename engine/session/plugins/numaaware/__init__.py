"""Guaranteed pods on nodes whose NUMA policy would admit them."""

from .numaaware_plugin import NumaAware

__all__ = ["NumaAware"]

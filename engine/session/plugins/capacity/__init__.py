"""Queues bounded by capability, guarantee and what they deserve, flat or as a tree."""

from .plugin import Capacity

__all__ = ["Capacity"]

"""Plugin ``capacity``: limits of queues, flat or as a tree."""

from .plugin import Capacity

__all__ = ["Capacity"]

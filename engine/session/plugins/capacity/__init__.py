"""Plugin ``capacity``: limits of queues, flat or as a tree."""

from .capacity_plugin import Capacity

__all__ = ["Capacity"]

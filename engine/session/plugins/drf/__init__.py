"""Dominant resource fairness among jobs, and among queues in a tree."""

from .drf_plugin import Drf

__all__ = ["Drf"]

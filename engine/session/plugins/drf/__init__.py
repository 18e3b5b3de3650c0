"""Dominant resource fairness among jobs, and among queues in a tree."""

from .plugin import Drf

__all__ = ["Drf"]

"""GPUs that pods share, by memory, by whole cards, or as virtual ones."""

from .memory import take_snapshot
from .plugin import DeviceShare

__all__ = ["DeviceShare", "take_snapshot"]

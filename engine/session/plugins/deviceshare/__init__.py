"""GPUs that pods share, by memory, by whole cards, or as virtual ones."""

from .deviceshare_plugin import DeviceShare
from .memory_sharing import take_snapshot

__all__ = ["DeviceShare", "take_snapshot"]

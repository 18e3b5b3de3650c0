"""GPUs that pods share, by memory, by whole cards, or as virtual ones."""

from .plugin import DeviceShare

__all__ = ["DeviceShare"]

"""Hypernodes for jobs that want their tasks near each other."""

from .plugin import NetworkTopologyAware

__all__ = ["NetworkTopologyAware"]

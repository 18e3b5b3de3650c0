"""Nodes of revocable zones, which jobs may use at times only."""

from .plugin import Tdm

__all__ = ["Tdm"]

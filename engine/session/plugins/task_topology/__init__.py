"""Tasks of a job near each other or apart, by role."""

from .plugin import TaskTopologyPlugin

__all__ = ["TaskTopologyPlugin"]

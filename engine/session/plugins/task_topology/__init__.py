"""Tasks of a job near each other or apart, by role."""

from .task_topology_plugin import TaskTopologyPlugin

__all__ = ["TaskTopologyPlugin"]

"""What changed in a cache since the last snapshot."""

from __future__ import annotations

from collections.abc import Iterable


class DirtyMarks:
    """Marks: names of nodes, keys of jobs, and whole parts of the cache."""

    def __init__(self) -> None:
        self.nodes: dict[str, None] = {}
        self.jobs: dict[str, None] = {}
        self.queue_names = self.priorities = self.hypernodes = self.objects = True
        """``objects`` is the mark of all kinds that have no separate mark."""

    def __bool__(self) -> bool:
        return bool(
            self.nodes
            or self.jobs
            or self.queue_names
            or self.priorities
            or self.hypernodes
            or self.objects
        )

    def node(self, name: str) -> None:
        """Mark a node that came, changed or went."""
        self.nodes[name] = None

    def job(self, key: str) -> None:
        """Mark a job that came, changed or went."""
        self.jobs[key] = None

    def mark(self, nodes: Iterable[str], jobs: Iterable[str]) -> None:
        """Mark these nodes and jobs, and all parts of the cache."""
        self.nodes.update(dict.fromkeys(nodes))
        self.jobs.update(dict.fromkeys(jobs))
        self.queue_names = self.priorities = self.hypernodes = self.objects = True

    def clear(self) -> None:
        """Take all marks away."""
        self.nodes, self.jobs = {}, {}
        self.queue_names = self.priorities = self.hypernodes = self.objects = False

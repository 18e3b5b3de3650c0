"""Extension points about groups within a job, which newer releases have.

Source: ``framework/session_plugins.go`` (``SubJobReady``, ``SubJobPipelined``, ``SubJobOrderFn``)
since v1.14.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..jobs.sub_jobs import SubJob
from .extension import Extensions


class SubJobExtensions(Extensions):
    """The functions that plugins registered, those about groups among them."""

    def add_sub_job_ready(self, name: str, fn: Callable[[SubJob], bool]) -> None:
        """Register whether a group has what it needs."""
        self._add("SubJobReady", name, fn)

    def add_sub_job_pipelined(self, name: str, fn: Callable[[SubJob], int]) -> None:
        """Register a vote on whether a group would be ready when what is released is free."""
        self._add("SubJobPipelined", name, fn)

    def add_sub_job_order(self, name: str, key: Callable[[SubJob], Any]) -> None:
        """Register an order of a job's groups by a key, least for the one that comes first."""
        self._add("SubJobOrder", name, key)

    def sub_job_ready(self, sub: SubJob) -> bool:
        """Return whether no plugin says that a group is not ready; a whole job is asked as such."""
        if not sub.divided:
            return self.job_ready(sub.job)
        return all(fn(sub) for _, fn in self.flat("SubJobReady"))

    def sub_job_pipelined(self, sub: SubJob) -> bool:
        """Return the vote of the first tier in which somebody permits; a rejection ends it."""
        if not sub.divided:
            return self.job_pipelined(sub.job)
        for tier in self.functions("SubJobPipelined"):
            votes = [fn(sub) for _, fn in tier]
            if any(vote < 0 for vote in votes):
                return False
            if any(vote > 0 for vote in votes):
                return True
        return True

    def sub_job_key(self, sub: SubJob) -> tuple[Any, ...]:
        """Return by what a job's groups are ordered: plugins' keys, number, UID.

        It stays the same as long as nothing happens to the group's tasks.
        """
        return (*(key(sub) for _, key in self.flat("SubJobOrder")), sub.match_index, sub.uid)

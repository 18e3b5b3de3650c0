"""A dump of a real scheduler's cache, as far as it is compared with the rebuilt one.

Source: pkg/scheduler/cache/dumper.go; the names of fields are Go's, amounts are in Volcano's units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ...model.task_status import STATUS_NAMES


class _Part(msgspec.Struct, rename="pascal", frozen=True):
    """A part of a dump; what is not named here is not read."""


class DumpedAmounts(_Part, frozen=True):
    """A vector of amounts: milli-cores, bytes, and what else there is."""

    milli_cpu: float = msgspec.field(default=0.0, name="MilliCPU")
    memory: float = 0.0
    scalar_resources: dict[str, float] | None = None

    def by_name(self) -> dict[str, float]:
        """Return the amounts that are not 0."""
        named = {"cpu": self.milli_cpu, "memory": self.memory, **(self.scalar_resources or {})}
        return {name: amount for name, amount in named.items() if amount}


class DumpedTask(_Part, frozen=True):
    """A pod, in its job or on its node. :param status: one bit, at the status' number."""

    namespace: str = ""
    name: str = ""
    node_name: str = ""
    status: int = 0

    @property
    def key(self) -> str:
        """``ns/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def state(self) -> str:
        """The status in words."""
        number = self.status.bit_length() - 1
        known = 0 <= number < len(STATUS_NAMES) and self.status == 1 << number
        return STATUS_NAMES[number] if known else str(self.status)


class DumpedNode(_Part, frozen=True):
    """A node and its account. :param tasks: by ``ns/name``."""

    allocatable: DumpedAmounts = DumpedAmounts()
    idle: DumpedAmounts = DumpedAmounts()
    used: DumpedAmounts = DumpedAmounts()
    releasing: DumpedAmounts = DumpedAmounts()
    pipelined: DumpedAmounts = DumpedAmounts()
    tasks: dict[str, DumpedTask] = {}


class DumpedJob(_Part, frozen=True):
    """A job. :param tasks: by uid."""

    queue: str = ""
    min_available: int = 0
    allocated: DumpedAmounts = DumpedAmounts()
    total_request: DumpedAmounts = DumpedAmounts()
    tasks: dict[str, DumpedTask] = {}


class DumpedCache(msgspec.Struct, frozen=True):
    """What sessions saw of nodes, by name, and of jobs, by ``ns/name``."""

    nodes: Mapping[str, DumpedNode]
    jobs: Mapping[str, DumpedJob] | None = None


def placed(status: str, node: str) -> str:
    """Return a task's status and node in words."""
    return f"{status} on {node}" if node else status


def read_dump(parts: Mapping[str, Any]) -> DumpedCache | None:
    """Return the dump that some parts are, by their names; None if they are not one of a cache.

    :param parts: the contents of ``cache.dumped`` events. v1.9 … v1.11 dumped no jobs.
    """
    try:
        nodes = msgspec.convert(parts["nodes"], dict[str, DumpedNode])
        jobs = msgspec.convert(parts.get("jobs"), dict[str, DumpedJob] | None)
    except (KeyError, msgspec.ValidationError):
        return None
    return DumpedCache(nodes, jobs)

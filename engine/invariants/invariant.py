"""What an invariant is, and what a violation of one is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple

from ..kubernetes.objects import Object
from .view import ClusterView

POD = ("", "Pod")
NODE = ("", "Node")
PODGROUP = ("scheduling.volcano.sh", "PodGroup")
QUEUE = ("scheduling.volcano.sh", "Queue")

SESSION = "Session"
"""The unit of an invariant that is checked once for each session."""

RUNS = "Runs"
"""The unit of an invariant about what a component's log records, one run after the other."""

WRITES = "Writes"
"""The unit of an invariant about who wrote what."""

QUEUES = "Queues"
"""The unit of an invariant that is checked for all queues together."""

VERSION = "Version"
"""The unit of an invariant about the order in which an input reported versions."""


class Severity(StrEnum):
    """How much a violation costs, from most to least."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"


class Needs(StrEnum):
    """The furthest state that an invariant reads: each includes those before it."""

    TRUTH = "truth"
    """What the API server held."""
    CACHE = "cache"
    """The scheduler's cache, besides."""
    SESSION = "session"
    """The session that a release would run, besides."""
    LOG = "log"
    """Who did what, or in which order an input reported it."""
    NOTHING = "-"
    """No log shows it: it is in the list with the reason."""


class Violation(NamedTuple):
    """One object of which an invariant does not hold.

    :param name: ``namespace/name``, or the name if there is no namespace.
    :param field: distinguishes several violations of one object.
    :param newest: the greatest resourceVersion among the objects that show it; 0 if unknown.
    :param severity: if it is not that of the invariant.
    """

    kind: str
    name: str
    message: str
    field: str = ""
    newest: int = 0
    severity: Severity | None = None

    @property
    def place(self) -> tuple[str, str, str]:
        """What is violated, whatever the message."""
        return self.kind, self.name, self.field


class Invariant(NamedTuple):
    """A sentence that holds of every sound cluster.

    :param id: as in ``I-04``. :param statement: the sentence.
    :param unit: the kind of object that it is checked for, one at a time.
    :param kinds: the kinds that the log must know completely.
    :param settles: it may be violated for a short time while components catch up.
    :param check: returns the violations of a unit, by its ``namespace/name``.
    :param ranged: it compares several moments, so it cannot be checked at one.
    :param unseen: why no log shows it; empty if it can be checked.
    :param patience: its own settle window, in microseconds, if that is longer.
    :param remembers: it depends on earlier moments, not only on the present one.
    :param named: it is checked only if it is named, as what it finds need not be a fault.
    """

    id: str
    name: str
    severity: Severity
    statement: str
    needs: Needs
    unit: str
    kinds: tuple[tuple[str, str], ...]
    settles: bool
    check: Callable[[ClusterView, str], Iterable[Violation]]
    ranged: bool = False
    unseen: str = ""
    patience: int = 0
    named: bool = False
    remembers: bool = False


def no_violations(_: ClusterView, __: str) -> Iterable[Violation]:
    """Find nothing: the invariant is not checked on views, or not at all."""
    return ()


def newest(*objects: Object | None) -> int:
    """Return the greatest resourceVersion of some objects; 0 if none has one."""
    return max((item.metadata.revision for item in objects if item is not None), default=0)

"""Nodes over time: how much of one resource is used of what is allocatable."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from math import inf

import msgspec

from ...engine.errors import ObjectNotFound, UsageError
from ...engine.state.extract import extract_use
from ...engine.state.facts import NodeFact, PodFact
from ..logs.given_names import known_names
from ..logs.log import Log, Progress
from .changes_in_order import NODE, StateChange, changes
from .incidents import Incident, scheduler_incidents
from .period import Period, ShownPeriod, Track

MOST_ROWS = 40
"""Rows of one picture; of more nodes, each row is several."""

READY, CORDONED, NOT_READY, GONE = "", "cordoned", "NotReady", "gone"
"""The states of a node; of several nodes, the last of them that any has, but gone only if all are.

Ready nodes that take no pods are cordoned. A node whose Ready condition is not in the log is ready.
"""

_NUMBERS = re.compile(r"([0-9]{1,18})")

_FINISHED = frozenset({"Succeeded", "Failed"})
_ORDER = (READY, CORDONED, NOT_READY)


class NodeUseRow(msgspec.Struct, frozen=True, kw_only=True):
    """One node, or several with names beside each other.

    :param name: of the first, and :param last: of the last of ``count`` nodes.
    :param used: of each part the highest share of allocatable, 1 is all; None: it has none of it.
    :param states: of each part, the worst.
    """

    name: str
    last: str
    count: int
    used: tuple[float | None, ...]
    states: tuple[str, ...]


class NodeUse(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes of a log by name.

    :param nodes: how many there are in all rows. :param incidents: of the scheduler.
    """

    period: Period
    resource: str
    rows: tuple[NodeUseRow, ...]
    nodes: int
    incidents: tuple[Incident, ...]


def node_use(
    log: Log,
    span: ShownPeriod,
    resource: str = "cpu",
    *,
    names: Collection[str] = (),
    progress: Progress | None = None,
) -> NodeUse:
    """Return how much of the nodes is used.

    :param names: only these. :param progress: called with (position, last position).
    :raises UsageError: the log has no such node, or no such resource.
    """
    known = sorted(set(known_names(log, NODE, None)), key=_in_numbers)
    missing = sorted(set(names) - set(known))
    if missing:
        raise ObjectNotFound(
            f"no node {missing[0]!r} in the log",
            now=f"nodes: {', '.join([*known[:8], *(['…'] if known[8:] else [])]) or 'none'}",
        )
    chosen = [name for name in known if not names or name in names]
    follow = _Follow(span.period, resource, _groups(chosen))
    for change in changes(log, span.end, progress, extract=extract_use):
        follow.take(change)
    if follow.resources and resource not in follow.resources:
        raise UsageError(
            f"no node has {resource!r}", now=f"resources: {', '.join(sorted(follow.resources))}"
        )
    rows = tuple(row for row in follow.finished() if set(row.states) != {GONE})
    count = sum(row.count for row in rows)
    return NodeUse(
        period=span.period,
        resource=resource,
        rows=rows,
        nodes=count,
        incidents=tuple(scheduler_incidents(log, span)),
    )


def _groups(names: Sequence[str]) -> list[Sequence[str]]:
    """Return names in groups of equal size, as many as there may be rows."""
    size = -(-len(names) // MOST_ROWS) or 1
    return [names[start : start + size] for start in range(0, len(names), size)]


class _Row:
    """The numbers of a row over time."""

    def __init__(self, period: Period, names: Sequence[str]) -> None:
        self.names = names
        self.share = Track(period)
        self.state = Track(period)
        self._limit = self._used = 0.0
        self._states = dict.fromkeys(range(len(_ORDER)), 0)

    def node(self, fact: NodeFact, used: float, resource: str, sign: int) -> None:
        """Add a node that exists with what its pods use, or (-1) take it away."""
        self._limit += sign * fact.allocatable.get(resource, 0.0)
        self._used += sign * used
        self._states[_ORDER.index(_state(fact))] += sign

    def use(self, amount: float) -> None:
        """Add to what pods use of the nodes that exist."""
        self._used += amount

    def note(self, time: int) -> None:
        """Note the share and the worst state from a time on."""
        share = None
        if self._limit or self._used:
            share = self._used / self._limit if self._limit else inf
        self.share.set(time, share)
        self.state.set(
            time, max((rank for rank, count in self._states.items() if count), default=None)
        )


class _Follow:
    """Follows changes, and keeps what nodes have."""

    def __init__(self, period: Period, resource: str, groups: Sequence[Sequence[str]]) -> None:
        self._resource = resource
        self._rows = [_Row(period, names) for names in groups]
        self._row_of = {name: row for row in self._rows for name in row.names}
        self._nodes: dict[str, NodeFact] = {}
        self._used: dict[str, float] = {}
        self.resources: set[str] = set()

    def take(self, change: StateChange) -> None:
        """Take the next change."""
        touched = set()
        # Pods use something of which the nodes have nothing: that is more than all of it.
        for fact, sign in ((change.before, -1), (change.now, 1)):
            if isinstance(fact, PodFact) and fact.node:
                self._add(fact, sign)
                touched.add(fact.node)
            elif isinstance(fact, NodeFact):
                touched.add(change.reference.name)
        if isinstance(change.now, NodeFact):
            self._node(change.reference.name, change.now)
            self.resources.update(change.now.allocatable)
        elif isinstance(change.before, NodeFact):
            self._node(change.reference.name, None)
        for name in sorted(touched):
            if name in self._row_of:
                self._row_of[name].note(change.time)

    def _add(self, pod: PodFact, sign: int) -> None:
        if pod.phase not in _FINISHED:
            amount = sign * pod.requests.get(self._resource, 0.0)
            # Also of nodes that do not exist yet: the log may show their pods first.
            self._used[pod.node] = self._used.get(pod.node, 0.0) + amount
            if pod.node in self._nodes and pod.node in self._row_of:
                self._row_of[pod.node].use(amount)

    def _node(self, name: str, fact: NodeFact | None) -> None:
        row, used = self._row_of.get(name), self._used.get(name, 0.0)
        before = self._nodes.pop(name, None)
        if before is not None and row is not None:
            row.node(before, used, self._resource, -1)
        if fact is not None:
            self._nodes[name] = fact
            if row is not None:
                row.node(fact, used, self._resource, 1)

    def finished(self) -> Iterator[NodeUseRow]:
        """Yield all rows."""
        for row in self._rows:
            states = row.state.values()
            yield NodeUseRow(
                name=row.names[0],
                last=row.names[-1],
                count=len(row.names),
                used=row.share.values(),
                states=tuple(GONE if state is None else _ORDER[int(state)] for state in states),
            )


def _state(node: NodeFact) -> str:
    if node.ready not in {"", "True"}:
        return NOT_READY
    return CORDONED if node.unschedulable else READY


def _in_numbers(name: str) -> list[tuple[int, str]]:
    """Return a key that puts ``node-2`` before ``node-10``."""
    # Every second part is what the group of the pattern caught: digits.
    parts = _NUMBERS.split(name)
    return [(int(part), "") if place % 2 else (0, part) for place, part in enumerate(parts)]

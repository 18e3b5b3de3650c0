"""Incidents: what a reader of a picture should see happened, and when."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

import msgspec

from ...engine.events.payloads import ProcessPanicked
from ...engine.kubernetes.amount_texts import short_amount
from ...engine.state.facts import NodeFact, QueueFact
from ..logs.log import Log
from ..recorded.recorded_sessions import HowKnown
from ..recorded.session_list import listed_sessions
from .changes_in_order import StateChange
from .period import Period, ShownPeriod
from .queue_totals import Tree

_OPEN = frozenset({"", "Open"})


_SCHEDULER = "scheduler"
"""The component whose panic ends a session."""


class Incident(NamedTuple):
    """Something that happened in a period.

    :param time: since when, microseconds; what had begun before the period begins with it.
    :param until: None if it lasts, or has no length. :param queue: empty if it is of no queue.
    :param text: what happened, as a short sentence.
    """

    time: int
    until: int | None
    queue: str
    text: str


class QueueIncidents:
    """Finds the incidents of queues while their changes pass by."""

    def __init__(self, period: Period, resource: str) -> None:
        self._period, self._resource = period, resource
        self._open: dict[tuple[str, str], tuple[int, str]] = {}
        self._found: list[Incident] = []
        self._nodes: dict[str, float] = {}
        self._sum = 0.0

    def node(self, change: StateChange) -> bool:
        """Take a change of a node: what all nodes have together is the limit of the root.

        Return whether that changed.
        """
        name, now = change.reference.name, change.now
        has = now.allocatable.get(self._resource, 0.0) if isinstance(now, NodeFact) else None
        if has == self._nodes.get(name):
            return False
        self._nodes.pop(name, None)
        if has is not None:
            self._nodes[name] = has
        # Summed again, as numbers that are added and taken away leave remainders.
        self._sum = sum(self._nodes.values())
        return True

    def queue(self, change: StateChange) -> None:
        """Take a change of a queue: it may have been closed."""
        name, now = change.reference.name, change.now
        state = now.state if isinstance(now, QueueFact) else ""
        for kind in ("Closing", "Closed"):
            self._mark(change.time, name, kind, f"{name} is {kind}" if state == kind else "")
        if now is None:
            for queue, kind in list(self._open):
                if queue == name:
                    self._mark(change.time, name, kind, "")

    def amounts(self, time: int, queue: str, tree: Tree, allocated: float) -> None:
        """Compare what a queue has with its limits, and these with those of its parent."""
        spec, resource = tree.specs[queue], self._resource
        limit = spec.capability.get(resource)
        above = limit is not None and allocated > limit
        self._mark(time, queue, "above", f"{queue} has more than its capability" if above else "")
        for kind in ("capability", "deserved", "guarantee"):
            mine, theirs = self._limits(queue, kind, tree)
            said = ""
            if mine is not None and theirs is not None and mine > theirs[0]:
                said = (
                    f"{kind} {short_amount(resource, mine)} of {queue} is above the "
                    f"{short_amount(resource, theirs[0])} of {theirs[1]}"
                )
            self._mark(time, queue, kind, said)

    def _limits(
        self, queue: str, kind: str, tree: Tree
    ) -> tuple[float | None, tuple[float, str] | None]:
        """Return a limit of a queue, and what it is compared with: the least of what is above it.

        That is the capability of its parent; directly below the root, also what all nodes have.
        """
        mine = getattr(tree.specs[queue], kind).get(self._resource)
        parent = tree.parent_of(queue)
        above = tree.specs.get(parent)
        if above is None:
            return mine, None
        limits = []
        if tree.parent_of(parent) == "" and self._nodes:
            limits.append((self._sum, "all nodes"))
        if self._resource in above.capability:
            limits.append((above.capability[self._resource], f"its parent {parent}"))
        return mine, min(limits, default=None)

    def _mark(self, time: int, queue: str, kind: str, text: str) -> None:
        begun = self._open.get((queue, kind))
        if begun is not None and begun[1] == text:
            return
        if begun is not None:
            del self._open[queue, kind]
            self._end(begun, time, queue)
        if text:
            self._open[queue, kind] = time, text

    def _end(self, begun: tuple[int, str], until: int | None, queue: str) -> None:
        begin = self._period.begin
        # What ended before the period, or in the moment in which it began, is not shown.
        if until is None or until > max(begin, begun[0]):
            self._found.append(Incident(max(begun[0], begin), until, queue, begun[1]))

    def ended(self) -> list[Incident]:
        """Return all incidents of the period; those that last have no end."""
        for (queue, _), begun in self._open.items():
            self._end(begun, None, queue)
        self._open = {}
        return self._found


def scheduler_incidents(log: Log, span: ShownPeriod) -> list[Incident]:
    """Return the panics of Volcano's components, and the sessions that did not end."""
    panics, cut = _panics(log, span.end.known), frozenset(_cut_short(log, span))
    period = span.period
    incidents = sorted(
        incident for incident in {*panics, *cut} if period.begin <= incident.time <= period.end
    )
    # A session that the panic after it cut short is no second incident.
    return [
        incident
        for incident, after in zip_longest(incidents, incidents[1:])
        if not (incident in cut and panics.get(after) == _SCHEDULER)
    ]


def _panics(log: Log, known: int) -> dict[Incident, str]:
    """Return the panics, each with its component."""
    panics = {}
    for recorded in log.events(kinds=("process.panicked",), until=known):
        time = recorded.event.observed_at
        if time is not None:
            said = msgspec.json.decode(recorded.event.payload, type=ProcessPanicked)
            panics[Incident(time, None, "", f"the {said.component} panics")] = said.component
    return panics


def _cut_short(log: Log, span: ShownPeriod) -> list[Incident]:
    """Return the logged sessions that did not end before the next one began."""
    logged = log.events(kinds=("session.opened",), until=span.end.known, limit=1)
    if next(logged, None) is None:
        return []  # To find the others, much of the log is read, and these never lack an end.
    sessions = listed_sessions(log.store, span.end)
    return [
        Incident(session.begin, None, "", f"session:{session.number} does not end")
        for session in sessions[:-1]
        if session.how is HowKnown.LOGGED and session.closed is None and session.id
    ]

"""Queues that are full, hold more than they deserve, or are not open, by the session's accounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ...engine.model.resource import MIN_RESOURCE
from ...engine.session.framework.vote_details import QueueCheck, QueueLevel
from ...engine.session.plugins.shared.queue_details import ACCOUNT
from ...engine.state.truth_fold import Truth
from ...engine.state.truth_tables import QueueTable, queue_parents, queue_table
from ..answers.amounts import apart, in_order, joined
from ..answers.answering_session import QUEUE, Run
from ..answers.queue_reasons import waiting_jobs
from ..logs.log import Log
from ..logs.moment_commands import MomentCommands
from ..moments.moment import Moment
from ..objects.kind_names import ObjectName
from .held_since import MOST_BLAMED, MOST_DATED, held_since, with_since
from .problems import Problem, ProblemKind

Held = Mapping[str, Mapping[str, float]]
"""By queue, what its pods with a node request; where accounts add up a tree, those below, too."""


class QueuePressure(msgspec.Struct, frozen=True):
    """What a queue holds, and what its account allows: resources that are full, or over deserved.

    :param waits: how many of its jobs wait, with those of the queues below it.
    :param blamed: whether *blame* is asked since when: it counts the same pods, those of the queues
        below it, too, and they are not too many.
    """

    name: str
    level: QueueLevel
    held: Mapping[str, float]
    waits: int
    blamed: bool

    @property
    def full(self) -> list[str]:
        """The resources of which it may have no more."""
        return [
            name
            for name, most in self._limits(self.level.limit)
            if self.held.get(name, 0.0) >= most - MIN_RESOURCE
        ]

    @property
    def over(self) -> list[str]:
        """The resources of which it holds more than it deserves."""
        return [
            name
            for name, most in self._limits(self.level.deserved)
            if self.held.get(name, 0.0) > most + MIN_RESOURCE
        ]

    def is_over_limit(self, name: str) -> bool:
        """Return whether it holds more of a resource than its limit, not just as much."""
        return self.held.get(name, 0.0) > (self.level.limit or {}).get(name, 0.0) + MIN_RESOURCE

    def _limits(self, amounts: Mapping[str, float] | None) -> Iterator[tuple[str, float]]:
        # Limits that are not set are 0 here, and hold no queue back: only others count.
        for name in in_order(amounts or {}):
            most = (amounts or {})[name]
            if most > 0 and name != "pods":
                yield name, most


def queue_problems(log: Log, run: Run, truth: Truth, commands: MomentCommands) -> list[Problem]:
    """Return what is wrong with queues, those first for which most jobs wait."""
    pressed = [
        (pressure, problem)
        for pressure in _pressures(run, truth)
        if (problem := _problem(run, pressure, commands)) is not None
    ]
    pressed.sort(key=lambda pair: (-pair[0].waits, pair[0].name))
    first = [_dated(log, run.moment, *pair) for pair in pressed[:MOST_DATED]]
    return [*first, *(problem for _, problem in pressed[MOST_DATED:])]


def _dated(log: Log, moment: Moment, pressure: QueuePressure, problem: Problem) -> Problem:
    """Return a problem with the time since when the pods of today hold at least so much.

    Pods that are gone may have held as much before, so it may have begun earlier.
    """
    limits = [(name, pressure.level.limit) for name in pressure.full]
    limits += [(name, pressure.level.deserved) for name in pressure.over]
    if not limits or not pressure.blamed:
        return problem
    name, most = limits[0]
    least = (most or {})[name] - MIN_RESOURCE
    queue = ObjectName(*QUEUE, pressure.name)
    since = held_since(log, moment, queue, f"allocated.{name}", least)
    return with_since(problem, since, at_least=True)


def _pressures(run: Run, truth: Truth) -> Iterator[QueuePressure]:
    accounts = {
        name: check
        for name in sorted(run.cache.queues)
        if (check := run.detail(QueueCheck, ACCOUNT, name)) is not None
    }
    # An account of several levels adds up what the queues below it hold.
    tree = any(len(check.levels) > 1 for check in accounts.values())
    table, parents = queue_table(truth), set(queue_parents(truth).values())
    held, pods = _held(truth, table, tree=tree), dict(zip(table.names, table.pods, strict=True))
    for name, check in accounts.items():
        waits = len(waiting_jobs(run, name))
        blamed = (tree or name not in parents) and pods.get(name, 0) <= MOST_BLAMED
        yield QueuePressure(name, check.levels[0], held.get(name, {}), waits, blamed)


def _held(truth: Truth, table: QueueTable, *, tree: bool) -> Held:
    parents = queue_parents(truth)
    held = {
        name: dict(zip(table.resources, table.allocated[row].tolist(), strict=True))
        for row, name in enumerate(table.names)
    }
    if tree:
        return held
    # The table adds up a tree, and a flat account has only what the queue's own pods hold.
    own = {name: dict(amounts) for name, amounts in held.items()}
    for name, parent in parents.items():
        for resource, amount in held.get(name, {}).items():
            if parent in own:
                own[parent][resource] = own[parent].get(resource, 0.0) - amount
    return own


def _problem(run: Run, pressure: QueuePressure, commands: MomentCommands) -> Problem | None:
    name, level = pressure.name, pressure.level
    state = run.cache.queues[name].state
    parts = []
    # Closed queues for which nothing waits are as somebody wanted them.
    if state not in {"", "Open"} and pressure.waits:
        parts.append(f"is {state}")
    if pressure.full:
        parts.append(f"{_fullness(pressure)} {_pairs(pressure, level.limit, pressure.full)}")
    # The limit of proportion is what a queue deserves: then both are one fact.
    over = [resource for resource in pressure.over if resource not in pressure.full]
    if over:
        amounts = _pairs(pressure, level.deserved, over)
        parts.append(f"holds more than it deserves: {amounts}")
    if not parts:
        return None
    waits = pressure.waits
    jobs = f", and {waits} of its jobs {'waits' if waits == 1 else 'wait'}" if waits else ""
    return Problem(
        kind=ProblemKind.QUEUE,
        text=f"queue {name} {joined(parts)}{jobs}",
        objects=(f"queue/{name}",),
        count=1,
        command=commands.of_session("why", f"queue/{name}"),
    )


def _fullness(pressure: QueuePressure) -> str:
    """Return in which way a queue is full: proportion lets it use what it deserves, no more."""
    is_over = any(pressure.is_over_limit(name) for name in pressure.full)
    if pressure.level.compared == "deserved":
        return "holds more than it deserves:" if is_over else "holds all that it deserves:"
    return "is over its limit: it holds" if is_over else "is full: it holds"


def _pairs(pressure: QueuePressure, most: Mapping[str, float] | None, names: Sequence[str]) -> str:
    texts = []
    for name in names:
        has, of = apart(pressure.held.get(name, 0.0), (most or {})[name], name)
        texts.append(f"{has} of {of} {name}")
    return joined(texts)

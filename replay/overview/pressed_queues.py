"""Queues that are full, hold more than they deserve, or are not open, by the session's accounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ...engine.session.framework.vote_details import QueueCheck, QueueLevel
from ...engine.state.truth_fold import Truth
from ...engine.state.truth_tables import queue_parents, queue_table
from ..answers.amounts import apart, in_order, joined
from ..answers.answering_session import Run
from ..answers.queue_reasons import ACCOUNT, waiting_jobs
from .problems import Problem, ProblemKind

_SLACK = 0.1
"""What Volcano's resources may differ by and count as equal; amounts are thousandths or bytes."""

Held = Mapping[str, Mapping[str, float]]
"""By queue, what its pods with a node request; where accounts add up a tree, those below, too."""


class QueuePressure(msgspec.Struct, frozen=True):
    """What a queue holds, and what its account allows: resources that are full, or over deserved.

    :param waits: how many of its jobs wait, with those of the queues below it.
    """

    name: str
    level: QueueLevel
    held: Mapping[str, float]
    waits: int

    @property
    def full(self) -> list[str]:
        """The resources of which it may have no more."""
        return [
            name
            for name, most in self._limits(self.level.limit)
            if self.held.get(name, 0.0) >= most - _SLACK
        ]

    @property
    def over(self) -> list[str]:
        """The resources of which it holds more than it deserves."""
        return [
            name
            for name, most in self._limits(self.level.deserved)
            if self.held.get(name, 0.0) > most + _SLACK
        ]

    def is_over_limit(self, name: str) -> bool:
        """Return whether it holds more of a resource than its limit, not just as much."""
        return self.held.get(name, 0.0) > (self.level.limit or {}).get(name, 0.0) + _SLACK

    def _limits(self, amounts: Mapping[str, float] | None) -> Iterator[tuple[str, float]]:
        # Limits that are not set are 0 here, and hold no queue back: only others count.
        for name in in_order(amounts or {}):
            most = (amounts or {})[name]
            if most > 0 and name != "pods":
                yield name, most


def queue_problems(run: Run, truth: Truth) -> list[Problem]:
    """Return what is wrong with queues, those first for which most jobs wait."""
    found = [
        (pressure, problem)
        for pressure in _pressures(run, truth)
        if (problem := _problem(run, pressure)) is not None
    ]
    found.sort(key=lambda pair: (-pair[0].waits, pair[0].name))
    return [problem for _, problem in found]


def _pressures(run: Run, truth: Truth) -> Iterator[QueuePressure]:
    accounts = {
        name: check
        for name in sorted(run.cache.queues)
        if (check := run.detail(QueueCheck, ACCOUNT, name)) is not None
    }
    # An account of several levels adds up what the queues below it hold.
    tree = any(len(check.levels) > 1 for check in accounts.values())
    held = _held(truth, tree=tree)
    for name, check in accounts.items():
        waits = len(waiting_jobs(run, name))
        yield QueuePressure(name, check.levels[0], held.get(name, {}), waits)


def _held(truth: Truth, *, tree: bool) -> Held:
    table, parents = queue_table(truth), queue_parents(truth)
    held = {
        name: dict(zip(table.resources, table.allocated[row].tolist(), strict=True))
        for row, name in enumerate(table.names)
    }
    if tree:
        return held
    own = {name: dict(amounts) for name, amounts in held.items()}
    for name, parent in parents.items():
        for resource, amount in held.get(name, {}).items():
            if parent in own:
                own[parent][resource] = own[parent].get(resource, 0.0) - amount
    return own


def _problem(run: Run, pressure: QueuePressure) -> Problem | None:
    name, state = pressure.name, run.cache.queues[pressure.name].state
    parts = []
    if state not in {"", "Open"} and pressure.waits:
        parts.append(f"is {state}")
    if pressure.full:
        is_over = any(pressure.is_over_limit(name) for name in pressure.full)
        says = "is over its limit" if is_over else "is full"
        parts.append(f"{says}: it holds {_pairs(pressure, pressure.level.limit, pressure.full)}")
    over = [resource for resource in pressure.over if resource not in pressure.full]
    if over:
        amounts = _pairs(pressure, pressure.level.deserved, over)
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
        command=f"plinian why queue/{name}",
    )


def _pairs(pressure: QueuePressure, most: Mapping[str, float] | None, names: Sequence[str]) -> str:
    texts = []
    for name in names:
        has, of = apart(pressure.held.get(name, 0.0), (most or {})[name], name)
        texts.append(f"{has} of {of} {name}")
    return joined(texts)

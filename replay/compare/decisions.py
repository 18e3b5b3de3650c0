"""What a session decided, as pairs that can be compared, and the first difference of traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from ...engine.session.framework.trace import TraceStep
from ..sessions.session_answer import SessionAnswer
from ..sessions.step_words import SessionStep, shown_step, stop_text

CRASH, STOP, ENQUEUE, BIND, EVICT, PIPELINE, PHASE = KINDS = (
    *("crash", "stop", "enqueue", "bind"),
    *("evict", "pipeline", "phase"),
)
"""The kinds of decisions, in the order in which they are shown; ``stop``: in every queue."""

_RANK = MappingProxyType({kind: rank for rank, kind in enumerate(KINDS)})

CONTEXT = 3
"""How many steps are kept before the first different one, and from it on."""


class Decision(NamedTuple):
    """A decision: its kind, and the pod or PodGroup (``ns/name``); empty for a crash or a stop."""

    kind: str
    about: str


class DifferingDecision(msgspec.Struct, frozen=True):
    """A decision that differs between sides.

    :param values: node, reason, phase or message by side; None on a side without it.
    """

    kind: str
    about: str
    values: tuple[str | None, ...]


class Parting(msgspec.Struct, frozen=True, kw_only=True):
    """The first step of traces that differs; see :class:`FirstDifference`."""

    number: int
    what: str
    before: list[SessionStep]
    steps: list[list[SessionStep]]


class FirstDifference(NamedTuple):
    """The first step of two or more traces that differs between sides.

    :param number: its index in the traces.
    :param what: ``numbers`` if only the compared numbers differ, else ``outcome``.
    :param before: the last steps before it, of the first side.
    :param steps: of each side, the step and those that follow; empty if the trace ended.
    """

    number: int
    what: str
    before: tuple[TraceStep, ...]
    steps: tuple[tuple[TraceStep, ...], ...]

    @property
    def document(self) -> Parting:
        """What answers show of it."""
        return Parting(
            number=self.number,
            what=self.what,
            before=list(map(shown_step, self.before)),
            steps=[list(map(shown_step, side)) for side in self.steps],
        )

    @property
    def alike(self) -> tuple[TraceStep, ...]:
        """By side, the first of these steps that checks the same on all sides; empty if none."""
        for step in self.steps[0]:
            same_by_side = [
                [trace_step for trace_step in side if trace_step[:4] == step[:4]]
                for side in self.steps
            ]
            if all(same_by_side):
                return tuple(same[0] for same in same_by_side)
        return ()


def decisions_of(answer: SessionAnswer) -> dict[Decision, str]:
    """Return what a session decided, with the phase of every PodGroup after it.

    The order of bindings and evictions is left out.
    """
    # A panic or a stop is a decision like others, so that sides differ by it.
    result = answer.result
    decided = {} if result.panic is None else {Decision(CRASH, ""): result.panic.message}
    if result.stopped is not None:
        decided[Decision(STOP, "")] = stop_text(result.stopped)
    decided |= {Decision(ENQUEUE, key): "yes" for key in result.enqueued}
    decided |= {Decision(BIND, pod): node for pod, node in result.binds}
    decided |= {Decision(EVICT, pod): reason for pod, reason in result.evictions}
    decided |= {Decision(PIPELINE, pod): node for pod, node in result.pipelined}
    decided |= {Decision(PHASE, key): phase for key, phase in phases_after(answer).items()}
    return decided


def phases_after(answer: SessionAnswer) -> dict[str, str]:
    """Return the phases of all PodGroups: those the session wrote, else those before it."""
    phases = {
        key: job.pod_group.status.phase
        for key, job in answer.cache.jobs.items()
        if job.pod_group is not None
    }
    phases |= {key: status.phase for key, status in answer.result.pod_groups.items()}
    return phases


def differing(sides: Sequence[Mapping[Decision, str]]) -> list[DifferingDecision]:
    """Return the decisions that differ between sides, by kind and name."""
    known = sorted({key for side in sides for key in side}, key=lambda key: (_RANK[key[0]], key))
    rows = (DifferingDecision(*key, tuple(side.get(key) for side in sides)) for key in known)
    return [row for row in rows if any(value != row.values[0] for value in row.values)]


def first_differences(traces: Sequence[Sequence[TraceStep]]) -> list[FirstDifference]:
    """Return the first differences of traces: of numbers, if that comes first, then of a step.

    How an Event is worded is no number: releases word it differently, and nothing depends on it.
    """
    differences: list[FirstDifference] = []
    for number in range(max(map(len, traces), default=0)):
        steps = tuple(trace[number] if number < len(trace) else None for trace in traces)
        if all(step == steps[0] for step in steps):
            continue
        same = len({None if step is None else step[:-1] for step in steps}) == 1
        if same and (differences or _is_event(steps[0])):
            # Numbers mostly go on differing: only the first time says where.
            continue
        before = tuple(traces[0][max(0, number - CONTEXT) : number])
        following = tuple(tuple(trace[number : number + CONTEXT]) for trace in traces)
        differences.append(
            FirstDifference(number, "numbers" if same else "outcome", before, following)
        )
        if not same:
            break
    return differences


def _is_event(step: TraceStep | None) -> bool:
    return step is not None and step.what == "event"

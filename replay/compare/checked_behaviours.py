"""The behaviours checked at the first difference of two sessions, and those that cause it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from ...engine.session.framework.behaviour_recorder import RecordedBehaviours
from ...engine.session.framework.trace import TraceStep
from ...engine.volcano.session.behaviours import Behaviours
from ..belief.stored_belief import believed
from ..tabular.documents import shown_as
from .bounded_traces import EndingTrace, TraceComplete
from .causes import Cause, changed, partly, suspects
from .decisions import FirstDifference
from .releases import BehaviourDiff

STEPS_RETRIED = 20_000
"""The most steps of all retries of one difference: less work than a session of a large cluster."""

PODS_RETRIED = 2_000
"""Caches of up to this many pods are rebuilt for a retry; larger ones take too long."""


class CheckedBehaviour(BehaviourDiff, frozen=True, kw_only=True):
    """A behaviour that differs between two releases and was checked at their first difference.

    :param decides: with the first one's value, the second takes that step as the first does; None
    if not tried.
    :param releases: the two, in the order of the values.
    """

    decides: bool | None
    releases: tuple[str, str]


class Retried(Protocol):
    """A session that can be run again as another release."""

    def traced(self, behaviours: Behaviours, trace: EndingTrace) -> object:
        """Run the session with a trace that may end it."""


class TracedSession(NamedTuple):
    """A session that was run: its release, and the steps that were kept."""

    consulted: RecordedBehaviours
    trace: Sequence[TraceStep]


def consultations(
    traced: tuple[TracedSession, TracedSession],
    parting: FirstDifference,
    rows: Sequence[BehaviourDiff],
    subject: Retried | None,
    *,
    pods: int = 0,
) -> list[CheckedBehaviour]:
    """Return the behaviours that differ and were checked at the first difference of two sessions.

    Those that decide the step come first. Of those checked before it, only these are included.

    :param rows: how the releases differ.
    :param subject: the second session, to run again with one behaviour of the first at a time; None
        if that proves nothing, because the two were run on different states.
    :param pods: the number of pods.
    """
    session, other = traced
    retries = _Retries(traced, parting, subject, pods)
    known = {row.behaviour: row for row in rows}
    names = [name for name in retries.values if name in known]
    # Behaviours that were read at the step itself are tried first: they are mostly its cause.
    there = _names_at(traced, parting.number)
    near = [name for name in names if name in there]
    deciding = retries.deciding(near)
    far: list[str] = []
    if not any(deciding.values()):
        asked = session.consulted.names | other.consulted.names
        decided = retries.deciding([name for name in names if name in asked and name not in there])
        far = [name for name, decides in decided.items() if decides]
    releases = (session.consulted.release, other.consulted.release)
    checked = [
        shown_as(CheckedBehaviour, known[name], decides=decides, releases=releases)
        for name, decides in (*deciding.items(), *((name, True) for name in far))
    ]
    return sorted(checked, key=lambda each: (not each.decides, each.behaviour))


def _names_at(traced: tuple[TracedSession, TracedSession], number: int) -> set[str]:
    # Behaviours of the cache are read before a session, so no step shows them: those that differ
    # count.
    first, second = (dict(believed(one_session.consulted.plain)) for one_session in traced)
    names = {name for name in first if first[name] != second[name]}
    return names.union(
        *(one_session.consulted.at(one_session.trace, number) for one_session in traced)
    )


class _Retries:
    """Runs the second of two sessions again, up to the step of their first difference."""

    def __init__(
        self,
        traced: tuple[TracedSession, TracedSession],
        parting: FirstDifference,
        subject: Retried | None,
        pods: int,
    ) -> None:
        self._one, self._other = traced
        self._number, self._subject, self._pods = parting.number, subject, pods
        self._whole = parting.what == "numbers"
        self.values = changed(self._one.consulted.plain, self._other.consulted.plain)
        self._left = STEPS_RETRIED
        self._tried: dict[Cause, Sequence[TraceStep]] = {}
        self._wanted, self._had = self._step(self._one.trace), self._step(self._other.trace)

    def deciding(self, names: Sequence[str]) -> dict[str, bool | None]:
        """Return whether each behaviour alone decides the step; None if that took too long."""
        decides: dict[str, bool | None] = dict.fromkeys(names, False)
        for name in suspects(names, self._inert):
            steps = self._retry((name,))
            decides[name] = None if steps is None else self._step(steps) == self._wanted
        return decides

    def _inert(self, names: Cause) -> bool:
        steps = self._retry(names)
        return steps is not None and self._step(steps) == self._had

    def _retry(self, names: Cause) -> Sequence[TraceStep] | None:
        """Return the steps with the first one's behaviours; None if that takes too long."""
        if names in self._tried:
            return self._tried[names]
        plain = self._other.consulted.plain
        behaviours = partly(plain, self.values, names)
        if self._subject is None or self._left <= self._number:
            return None
        # Another cache would have to be built from the log, which takes too long for many pods.
        if self._pods > PODS_RETRIED and believed(behaviours) != believed(plain):
            return None
        self._left -= self._number + 1
        trace = EndingTrace(self._number + 1)
        with suppress(TraceComplete):
            self._subject.traced(behaviours, trace)
        self._tried[names] = trace.steps
        return trace.steps

    def _step(self, steps: Sequence[TraceStep]) -> tuple[object, ...] | None:
        if self._number >= len(steps):
            return None
        step = steps[self._number]
        return step if self._whole else step[:-1]

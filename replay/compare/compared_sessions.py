"""Sessions side by side: their decisions, first differences, and how their releases differ."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import msgspec

from ...engine.session.framework.behaviour_recorder import RecordedBehaviours
from ...engine.session.framework.trace import Trace
from ...engine.volcano.session.history import resolve
from ..belief.belief import HELD_PODS, Beliefs
from ..belief.stored_belief import CacheBasis, believed
from ..logs.log import Log
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment
from ..moments.unknown import Unknown
from ..sessions.session_answer import SessionDocument, SessionRun
from ..tabular.column_table import ColumnTable, table_of, texts
from ..tabular.documents import shown_as
from ..tabular.tabular import Tabular
from .bounded_traces import ComparedTrace, FirstSteps
from .checked_behaviours import CheckedBehaviour, TracedSession, consultations
from .decisions import (
    CONTEXT,
    Decision,
    DifferingDecision,
    FirstDifference,
    Parting,
    decisions_of,
    differing,
    first_differences,
)
from .releases import BehaviourDiff, session_diff
from .subjects import LogSubject

FIRST_STEPS = 10_000
"""The steps of each session that are compared first: those of about 1,500 placements."""


class SessionSide(NamedTuple):
    """One of the compared sessions.

    It holds no cache, so that no more than one of large clusters is in memory.

    :param label: what distinguishes it from the others: a release, a configuration, a point.
    :param consulted: its release's behaviours, with those that the session checked.
    :param decisions: see :func:`.decisions.decisions_of`.
    :param pods: how many the scheduler's cache has.
    """

    label: str
    answer: SessionRun
    consulted: RecordedBehaviours
    decisions: Mapping[Decision, str]
    pods: int


class LabelledSession(SessionDocument, frozen=True, kw_only=True):
    """One of the compared sessions. :param label: what distinguishes it from the others."""

    label: str


class ComparisonDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Compared sessions and their differences; values are in the order of the sides.

    :param steps_compared: null is all. :param partings: the first steps that differ.
    :param consulted: behaviours that were checked at the last of them.
    :param asked: the behaviours that differ and that any session checked; others have no effect.
    """

    differ: bool
    not_known: tuple[Unknown, ...]
    sides: list[LabelledSession]
    decisions: list[DifferingDecision]
    steps_compared: int | None
    partings: list[Parting]
    consulted: list[CheckedBehaviour]
    asked: list[str]
    behaviours: list[BehaviourDiff]


@dataclass(frozen=True, slots=True)
class Comparison(Tabular):
    """Compared sessions and their differences; true if there is any.

    :param first_differences: see :func:`.decisions.first_differences`.
    :param consulted: behaviours that were checked at the last of them; see
        :mod:`.checked_behaviours`.
    :param behaviours: those in which their releases differ, with or without effect here.
    :param compared: the number of steps compared; None is all.
    """

    sides: tuple[SessionSide, ...]
    decisions: list[DifferingDecision]
    first_differences: list[FirstDifference]
    behaviours: list[BehaviourDiff]
    consulted: list[CheckedBehaviour] = field(default_factory=list)
    compared: int | None = None

    def __bool__(self) -> bool:
        return bool(self.decisions)

    @property
    def document(self) -> ComparisonDocument:
        """What answers show of it, without the steps of each side."""
        return self.shown(trace=False)

    def shown(self, *, trace: bool) -> ComparisonDocument:
        """Return what answers show of it. :param trace: include all steps of each side."""
        return shown_as(
            ComparisonDocument,
            self,
            differ=bool(self),
            sides=[
                shown_as(
                    LabelledSession,
                    side.answer.document if trace else side.answer.untraced,
                    label=side.label,
                )
                for side in self.sides
            ],
            steps_compared=self.compared,
            partings=[parting.document for parting in self.first_differences],
        )

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the decisions that differ, and the behaviours in which the releases do."""
        heads = ["decision", "object", *(side.label for side in self.sides)]
        return {
            "decisions": texts(
                heads, ((row.kind, row.about, *row.values) for row in self.decisions)
            ),
            "behaviours": table_of(BehaviourDiff, self.behaviours),
        }

    @property
    def not_known(self) -> tuple[Unknown, ...]:
        """What sessions need and the log does not know at the moment of any of them."""
        return tuple(
            dict.fromkeys(unknown for side in self.sides for unknown in side.answer.not_known)
        )

    @property
    def asked(self) -> list[str]:
        """The behaviours that differ and that any session checked; others have no effect."""
        names = frozenset[str]().union(*(side.consulted.names for side in self.sides))
        believing = {name for side in self.sides for name, _ in believed(side.consulted.plain)}
        return [row.behaviour for row in self.behaviours if row.behaviour in names | believing]


def _comparison_of(
    runs: Sequence[_Run], sides: Sequence[SessionSide], steps: int | None = None
) -> Comparison:
    """Return what differs between sessions, which must have been traced.

    :param steps: the number of steps that were kept; None is all.
    """
    answers = [side.answer for side in sides]
    releases = tuple(answer.release for answer in answers)
    parted = first_differences([answer.result.trace for answer in answers])
    behaviours = session_diff(*releases) if len(set(releases)) > 1 else []
    return Comparison(
        sides=tuple(sides),
        decisions=differing([side.decisions for side in sides]),
        first_differences=parted,
        behaviours=behaviours,
        consulted=_consulted(runs, sides, parted[-1]) if parted and behaviours else [],
        compared=steps,
    )


def compare_variants(
    log: Log,
    moment: Moment,
    releases: Sequence[str],
    confs: Sequence[ConfText | None],
    *,
    trace: bool = False,
) -> Comparison:
    """Compare sessions at one moment: every release with every configuration.

    Releases with the same cache behaviour share one cache.

    :param releases: names; at least one.
    :param confs: at least one; None is the configuration in force in the log.
    :param trace: keep all steps of each, and every node's score; else those needed to find the
        first difference.
    """
    beliefs = Beliefs(log.store, log.recent_beliefs)
    subjects = [LogSubject(log, moment, conf, beliefs=beliefs) for conf in confs]
    runs = []
    for release, subject in product(releases, subjects):
        parts = [release] if len(releases) > 1 or len(confs) == 1 else []
        parts += [subject.conf_source(release)] if len(confs) > 1 else []
        runs.append(_Run(" ".join(parts), subject, release))
    return _compare(runs, whole=trace)


def compare_moments(
    log: Log, moments: tuple[Moment, Moment], releases: tuple[str, str]
) -> Comparison:
    """Compare the sessions of two releases at two moments."""
    beliefs = Beliefs(log.store, log.recent_beliefs)
    subjects = {moment: LogSubject(log, moment, beliefs=beliefs) for moment in moments}
    runs = [
        _Run(f"{release} {moment.label}", subjects[moment], release)
        for moment, release in zip(moments, releases, strict=True)
    ]
    return _compare(runs, whole=False)


class _Run(NamedTuple):
    """A session to compare."""

    label: str
    subject: LogSubject
    release: str

    def side(self, trace: Trace) -> SessionSide:
        """Run the session."""
        consulted = RecordedBehaviours.of(resolve(self.release))
        answer = self.subject.traced(consulted, trace)
        return SessionSide(
            self.label,
            answer.without_cache(),
            consulted,
            decisions_of(answer),
            len(answer.cache.stores.of("Pod")),
        )

    @property
    def cache(self) -> tuple[Moment, CacheBasis]:
        """What its cache depends on."""
        return self.subject.moment, believed(resolve(self.release))


def _compare(runs: Sequence[_Run], *, whole: bool) -> Comparison:
    """Run sessions and compare them: their first steps, or all if those do not decide it.

    Steps cost more than the rest of a session of a large cluster. Only the first ones are kept if
    they differ, or if all decisions are the same.
    """
    if whole:
        return _comparison_of(runs, _in_turn(runs, [Trace() for _ in runs]))
    sides = _sides(runs, FIRST_STEPS)
    traces = [side.answer.result.trace for side in sides]
    if max(map(len, traces)) < FIRST_STEPS:
        return _comparison_of(runs, sides)
    parted = any(parting.what == "outcome" for parting in first_differences(traces))
    # Enough: the outcome differs within the first steps, or nothing differs that the rest could
    # explain.
    if parted or len({_done(side.answer) for side in sides}) == 1:
        return _comparison_of(runs, sides, FIRST_STEPS)
    return _comparison_of(runs, _sides(runs, sys.maxsize))


def _sides(runs: Sequence[_Run], steps: int) -> list[SessionSide]:
    """Run sessions, each with at most this many steps; all but the first only until they differ."""
    first = FirstSteps(steps)
    others = [ComparedTrace(first.steps, steps, CONTEXT) for _ in runs[1:]]
    return _in_turn(runs, [first, *others])


def _in_turn(runs: Sequence[_Run], traces: Sequence[Trace]) -> list[SessionSide]:
    """Run sessions, the first one first, then those with one cache one after the other."""
    turns: dict[tuple[Moment, CacheBasis], list[int]] = {}
    for place, run in enumerate(runs):
        turns.setdefault(run.cache, []).append(place)
    sides = {}
    # One cache at a time: two of a large cluster would not fit into memory together.
    for place in (place for places in turns.values() for place in places):
        side = sides[place] = runs[place].side(traces[place])
        if side.pods > HELD_PODS:
            gc.collect()  # What a session leaves refers to each other, and is half as much again.
    return [sides[place] for place in range(len(runs))]


def _done(answer: SessionRun) -> tuple[object, ...]:
    """Return what a session did, in order."""
    result = answer.result
    done = (result.enqueued, result.binds, result.pipelined, result.evictions)
    return tuple(tuple(decided) for decided in done)


def _consulted(
    runs: Sequence[_Run], sides: Sequence[SessionSide], parting: FirstDifference
) -> list[CheckedBehaviour]:
    """Return what the first side and the first other release that differs from it checked."""
    session_side = sides[0]
    first = parting.steps[0][:1]
    for run, side, steps in zip(runs[1:], sides[1:], parting.steps[1:], strict=True):
        if side.answer.release == session_side.answer.release or steps[:1] == first:
            continue
        traced = (
            TracedSession(session_side.consulted, session_side.answer.result.trace),
            TracedSession(side.consulted, side.answer.result.trace),
        )
        return consultations(
            traced,
            parting,
            session_diff(session_side.answer.release, side.answer.release),
            # Run again on another moment or configuration, a step would differ for that reason,
            # too.
            run.subject if run.subject is runs[0].subject else None,
            pods=side.pods,
        )
    return []

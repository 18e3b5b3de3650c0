"""What a search for races found, and what answers show of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from ...engine.machine.delays import ONE_DELAY
from ...engine.machine.machine_layout import MachineStep
from ...engine.machine.natural import StateViolation
from ...engine.machine.walks import WalkBound
from ...engine.state.clock import TimeSpan
from ...engine.volcano.table import Part
from ..compare.releases import BehaviourDiff
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.documents import shown_as
from ..tabular.record_columns import Time
from ..tabular.tabular import Tabular
from .explored_scenario import MachineCase
from .step_coverage import StepCoverage

EXHAUSTIVE = "exhaustive"


STRATEGIES = (EXHAUSTIVE, "pct", "random", "delay")


class SearchPlan(NamedTuple):
    """How to search.

    :param invariants: ids; none are all. :param prompt: components that are never late.
    :param steps: stop after so many turns; None is no limit.
    :param delays: of an exhaustive search: so many steps are held up in an order, at most; None is
        every order.
    """

    release: str
    strategy: str = EXHAUSTIVE
    seed: int = 0
    prompt: tuple[str, ...] = ()
    invariants: tuple[str, ...] = ()
    steps: int | None = None
    jobs: int = 1
    delays: int | None = ONE_DELAY.delays


class Verdicts(msgspec.Struct, frozen=True):
    """Releases in which the same order ends in the same violation, and those in which not.

    :param complete: all releases were tried.
    """

    breaks: tuple[str, ...]
    holds: tuple[str, ...]
    complete: bool = True
    order: str = "in this order"


class Cure(NamedTuple):
    """What differs between a release that breaks and a neighbouring one that holds.

    :param breaks, holds: these releases.
    :param behaviours: those that, changed alone in the first, make the order end well.
    """

    breaks: str
    holds: str
    behaviours: tuple[BehaviourDiff, ...]


class InLog(NamedTuple):
    """An anomaly as a log shows it.

    :param name: of the object there. :param position, span: since when.
    """

    name: str
    position: int
    span: TimeSpan


class Anomaly(NamedTuple):
    """Something wrong, and the order that leads there.

    :param steps: after them the cluster is left alone. :param found_in: steps before shrinking.
    :param digest: of the objects in the end. :param cure: None if none is known.
    :param in_log: of a search from a moment of a log: that the log shows the same later.
    """

    violation: StateViolation
    steps: tuple[MachineStep, ...]
    found_in: int
    digest: str
    token: str
    seed: int | None
    releases: Verdicts
    cure: Cure | None = None
    in_log: InLog | None = None

    @property
    def document(self) -> AnomalyDocument:
        """What answers show of it."""
        cure, shown = self.cure, self.in_log
        return shown_as(
            AnomalyDocument,
            self,
            invariant=self.violation.invariant,
            sentence=self.violation.sentence,
            steps=list(map(str, self.steps)),
            cure=None
            if cure is None
            else shown_as(
                ShownCure,
                cure,
                behaviours=[shown_as(CuringBehaviour, behaviour) for behaviour in cure.behaviours],
            ),
            in_log=None
            if shown is None
            else ShownInLog(
                object=shown.name,
                position=shown.position,
                time=Time.of(shown.span.estimate),
                earliest=Time.of(shown.span.earliest),
                latest=Time.of(shown.span.latest),
            ),
        )


class AnomalyRow(NamedTuple):
    """An anomaly. :param steps: of the shortest order that leads there.

    :param breaks: releases in which it does. :param token: runs it again.
    """

    invariant: str
    message: str
    steps: int
    found_in: int
    breaks: tuple[str, ...]
    holds: tuple[str, ...]
    token: str


class CuringBehaviour(msgspec.Struct, frozen=True, kw_only=True):
    """A behaviour that, changed alone, makes an order end well."""

    behaviour: str
    part: Part
    values: tuple[str, ...]
    pull: str | None
    why: str


class ShownCure(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between a release that breaks and a neighbouring one that holds."""

    breaks: str
    holds: str
    behaviours: list[CuringBehaviour]


class ShownInLog(msgspec.Struct, frozen=True, kw_only=True):
    """An anomaly as the log shows it: of which object, and since when."""

    object: str
    position: int
    time: Time | None
    earliest: Time | None
    latest: Time | None


class AnomalyDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong, and the order that leads there; see :class:`Anomaly`."""

    invariant: str
    sentence: str
    steps: list[str]
    found_in: int
    seed: int | None
    digest: str
    token: str
    releases: Verdicts
    cure: ShownCure | None
    in_log: ShownInLog | None


class WalkPromise(msgspec.Struct, frozen=True, kw_only=True):
    """What walks by priorities promise: with which probability they find a fault, at the least.

    :param depth: on the order of so many steps it depends.
    """

    depth: int
    kinds: int
    steps: int
    walks: int
    of_one_walk: float
    of_all_walks: float


class ExplorationDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found; see :class:`Exploration`.

    :param delays: how many steps are held up in an order; null is every order.
    :param faults: how often what may fail. :param not_shrunk: violations beside the anomalies.
    """

    case: str
    about: str
    release: str
    strategy: str
    seed: int | None
    delays: int | None
    prompt: tuple[str, ...]
    faults: dict[str, int]
    invariants: tuple[str, ...]
    complete: bool
    interrupted: bool
    states: int
    turns: int
    ends: int
    coverage: StepCoverage
    bound: WalkPromise | None
    anomalies: list[AnomalyDocument]
    not_shrunk: int


@dataclass(frozen=True, slots=True)
class Exploration(Tabular):
    """What a search found.

    :param states: distinct ones. :param turns: how many were made.
    :param ends: how many ends were checked.
    :param complete: every order that the plan allows was seen.
    :param coverage: which kinds of steps were made. :param bound: what walks by priorities promise.
    :param more: violations that were found but not shrunk, see :data:`MOST_ANOMALIES`.
    """

    case: MachineCase
    plan: SearchPlan
    anomalies: tuple[Anomaly, ...]
    states: int
    turns: int
    ends: int
    complete: bool
    interrupted: bool
    coverage: StepCoverage = field(default_factory=StepCoverage)
    bound: WalkBound | None = None
    more: int = 0

    @property
    def document(self) -> ExplorationDocument:
        """What answers show of it."""
        plan, bound = self.plan, self.bound
        exhaustive = plan.strategy == EXHAUSTIVE
        return shown_as(
            ExplorationDocument,
            self,
            case=self.case.name,
            about=self.case.about,
            release=plan.release,
            strategy=plan.strategy,
            seed=None if exhaustive else plan.seed,
            delays=plan.delays if exhaustive else None,
            prompt=plan.prompt,
            faults={kind: often for kind, often in self.case.faults._asdict().items() if often},
            invariants=plan.invariants,
            bound=None
            if bound is None
            else shown_as(WalkPromise, bound, of_one_walk=bound.of_one, of_all_walks=bound.of_all),
            anomalies=[anomaly.document for anomaly in self.anomalies],
            not_shrunk=self.more,
        )

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the anomalies."""
        return {"anomalies": table_of(AnomalyRow, map(_row, self.anomalies))}


def _row(anomaly: Anomaly) -> AnomalyRow:
    violation = anomaly.violation
    return AnomalyRow(
        violation.invariant,
        violation.sentence,
        len(anomaly.steps),
        anomaly.found_in,
        anomaly.releases.breaks,
        anomaly.releases.holds,
        anomaly.token,
    )

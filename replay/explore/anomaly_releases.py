"""The order of an anomaly in all releases, and the behaviour that makes the difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...engine.machine.machine_layout import MachineStep
from ...engine.session.framework.behaviour_recorder import RecordedBehaviours
from ...engine.volcano.releases import RELEASES, PreRelease, known_release
from ...engine.volcano.session.history import record
from ...engine.volcano.table import Part, rows_in
from ..compare.releases import BehaviourDiff, release_diff
from ..parallel import run_all
from .exploration import Anomaly, Cure, Verdicts
from .explored_scenario import MachineCase
from .scenario_world import UNCHANGED, Changed, ScenarioWorld, run_steps, world_of

_TRIED = (Part.CONTROLLERS, Part.SESSION)
"""Parts of which one behaviour can be changed alone in a machine."""


class _Order(NamedTuple):
    steps: tuple[MachineStep, ...]
    invariant: str


class _Trial(NamedTuple):
    """Orders to run as one release, with other behaviours."""

    case: MachineCase
    release: str
    orders: tuple[_Order, ...]
    changed: Changed = UNCHANGED


def in_all_releases(
    case: MachineCase,
    release: str,
    anomalies: Sequence[Anomaly],
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Anomaly]:
    """Return anomalies with the releases that break and hold in the same order.

    A step that a release cannot make is skipped; in the end the cluster is left alone.

    :param release: that of the search; it is tried, too, if it is a pre-release.
    """
    if not anomalies:
        return []
    orders = tuple(_Order(anomaly.steps, anomaly.violation.invariant) for anomaly in anomalies)
    searched = known_release(release)
    before = (searched,) if isinstance(searched, PreRelease) else ()
    names = [str(each) for each in (*RELEASES, *before)]
    trials = [_Trial(case, name, orders) for name in names]
    broken = list(run_all(_try, trials, jobs=jobs, progress=progress))
    verdicts = []
    for at in range(len(orders)):
        ends = {name: each[at] for name, each in zip(names, broken, strict=True)}
        breaks = tuple(name for name in names if ends[name])
        verdicts.append(Verdicts(breaks, tuple(name for name in names if not ends[name])))
    pairs = [_neighbours(each, before) for each in verdicts]
    cures: dict[_Order, Cure] = {}
    # Orders with the same two releases share their runs.
    for pair in dict.fromkeys(pair for pair in pairs if pair is not None):
        same = [order for order, own in zip(orders, pairs, strict=True) if own == pair]
        cures.update(_cures(_Trial(case, pair[0], tuple(same)), pair[1], jobs))
    return [
        anomaly._replace(releases=each, cure=cures.get(order))
        for anomaly, each, order in zip(anomalies, verdicts, orders, strict=True)
    ]


def _try(trial: _Trial) -> list[bool]:
    """Say of each order whether the release breaks in it."""
    world = world_of(trial.case, trial.release, changed=trial.changed)
    return [_breaks(world, order) for order in trial.orders]


def _breaks(world: ScenarioWorld, order: _Order) -> bool:
    return any(
        violation.invariant == order.invariant
        for violation in run_steps(world, order.steps).violations
    )


def _cures(trial: _Trial, holding: str, jobs: int) -> dict[_Order, Cure]:
    """Return for each order the behaviours of a release that holds of which one alone holds, too.

    Behaviours that no session reads in these orders make no difference.

    :param trial: of the release that breaks.
    """
    read = _read(trial)
    differing = [
        diff
        for diff in release_diff(trial.release, holding, parts=_TRIED)
        if diff.part is not Part.SESSION or diff.behaviour in read
    ]
    trials = [trial._replace(changed=_changed(holding, diff)) for diff in differing]
    broken = list(run_all(_try, trials, jobs=jobs))
    return {
        order: Cure(
            trial.release,
            holding,
            tuple(diff for diff, each in zip(differing, broken, strict=True) if not each[at]),
        )
        for at, order in enumerate(trial.orders)
    }


def _read(trial: _Trial) -> frozenset[str]:
    """Return the behaviours of the scheduler that are read in some orders."""
    reads = RecordedBehaviours.of(record(known_release(trial.release)))
    world = world_of(trial.case, trial.release, reads=reads)
    for order in trial.orders:
        run_steps(world, order.steps)
    return reads.names


def _neighbours(verdicts: Verdicts, before: Sequence[PreRelease]) -> tuple[str, str] | None:
    """Return a release that breaks and one that holds, one of which follows the other.

    A pre-release and what it became come first; then two of one line: a fix, then a change for
    the worse.
    """
    for pre_release in before:
        if str(pre_release) in verdicts.breaks and str(pre_release.becomes) in verdicts.holds:
            return str(pre_release), str(pre_release.becomes)
    volcano = [release for release in RELEASES if not release.ours]
    holds = {*verdicts.holds}
    candidates = []
    for old, new in pairwise(volcano):
        if (str(old) in holds) != (str(new) in holds):
            is_fix = str(new) in holds
            pair = (str(old), str(new)) if is_fix else (str(new), str(old))
            candidates.append((old.line != new.line, not is_fix, pair))
    return min(candidates, key=lambda candidate: candidate[:2])[2] if candidates else None


def _changed(holding: str, diff: BehaviourDiff) -> Changed:
    """Return one behaviour of a release, for another one."""
    value = rows_in(diff.part, known_release(holding))[diff.behaviour].value
    changed = {diff.behaviour: value}
    if diff.part is Part.CONTROLLERS:
        return Changed(controllers=changed)
    return Changed(session=changed)

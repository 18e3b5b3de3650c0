"""The order of an anomaly in all releases, and the behaviour that makes the difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...engine.machine.layout import Step
from ...engine.volcano.releases import RELEASES, PreRelease, known_release
from ...engine.volcano.table import Part, rows_in
from ..compare.releases import BehaviourDiff, release_diff
from ..parallel import run_all
from .run import Anomaly, Cure, Verdicts
from .scenario import MachineCase
from .world import Changed, World, run_steps, world_of

_TRIED = (Part.CONTROLLERS, Part.SESSION)
"""Parts of which one behaviour can be changed alone in a machine."""


class _Order(NamedTuple):
    steps: tuple[Step, ...]
    invariant: str


class _Trial(NamedTuple):
    """Orders to run as one release."""

    case: MachineCase
    release: str
    orders: tuple[_Order, ...]


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
    orders = tuple(_Order(one.steps, one.violation.invariant) for one in anomalies)
    searched = known_release(release)
    before = (searched,) if isinstance(searched, PreRelease) else ()
    names = [str(each) for each in (*RELEASES, *before)]
    trials = [_Trial(case, name, orders) for name in names]
    broken = list(run_all(_try, trials, jobs=jobs, progress=progress))
    found = []
    for at, anomaly in enumerate(anomalies):
        ends = {name: each[at] for name, each in zip(names, broken, strict=True)}
        verdicts = Verdicts(
            tuple(name for name in names if ends[name]),
            tuple(name for name in names if not ends[name]),
        )
        cure = _cure(case, orders[at], verdicts, before)
        found.append(anomaly._replace(releases=verdicts, cure=cure))
    return found


def _try(trial: _Trial) -> list[bool]:
    """Say of each order whether the release breaks in it."""
    world = world_of(trial.case, trial.release)
    return [_breaks(world, order) for order in trial.orders]


def _breaks(world: World, order: _Order) -> bool:
    return any(one.invariant == order.invariant for one in run_steps(world, order.steps).violations)


def _cure(
    case: MachineCase, order: _Order, verdicts: Verdicts, before: Sequence[PreRelease]
) -> Cure | None:
    """Return neighbouring releases that end differently, and what makes the difference."""
    pair = _neighbours(verdicts, before)
    if pair is None:
        return None
    broken, held = pair
    differing = release_diff(broken, held, parts=_TRIED)
    alone = [one for one in differing if not _breaks(_with(case, broken, held, one), order)]
    return Cure(broken, held, tuple(alone))


def _neighbours(verdicts: Verdicts, before: Sequence[PreRelease]) -> tuple[str, str] | None:
    """Return a release that breaks and one that holds, one of which follows the other.

    A pre-release and what it became come first; then two of one line: a fix, then a change for
    the worse.
    """
    for one in before:
        if str(one) in verdicts.breaks and str(one.becomes) in verdicts.holds:
            return str(one), str(one.becomes)
    volcano = [release for release in RELEASES if not release.ours]
    holds = {*verdicts.holds}
    found = []
    for old, new in pairwise(volcano):
        if (str(old) in holds) != (str(new) in holds):
            is_fix = str(new) in holds
            pair = (str(old), str(new)) if is_fix else (str(new), str(old))
            found.append((old.line != new.line, not is_fix, pair))
    return min(found, key=lambda one: one[:2])[2] if found else None


def _with(case: MachineCase, broken: str, held: str, one: BehaviourDiff) -> World:
    """Return the machine of a release with one behaviour of another one."""
    value = rows_in(one.part, known_release(held))[one.behaviour].value
    changed = {one.behaviour: value}
    if one.part is Part.CONTROLLERS:
        return world_of(case, broken, changed=Changed(controllers=changed))
    return world_of(case, broken, changed=Changed(session=changed))

"""The hypernodes that jobs and their groups were given: remembered, or found by where they run.

Source: ``framework/session.go`` (``removeInvalidAllocatedHyperNode``,
``recoverAllocatedHyperNode``), ``actions/allocate/recorder.go`` since v1.14.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...model.tables import ALLOCATED_STATUS
from .top_hypernode import lca

if TYPE_CHECKING:
    from ..framework.session import Session
    from ..jobs.sub_jobs import Division

_GIVEN = "allocate: hypernodes that jobs and their groups were given"
"""Under this name the process keeps, by job and UID of the group, a hypernode; "" is the job's."""
_JOB = ""


def recall(ssn: Session, job: int, division: Division) -> None:
    """Enter what a job and its groups were given, as it was when the session was opened."""
    known = _kept(ssn).get(ssn.jobs.keys[job], {})
    division.hypernode = known.get(_JOB, "")
    for sub in division.sub_jobs:
        sub.hypernode = known.get(sub.uid, "")
    if ssn.hypernodes.ready:
        _forget_invalid(ssn, job, division)
        if division.near:
            _recover(ssn, job, division)
    _keep(ssn, job, division)


def recall_all(ssn: Session) -> None:
    """Look at all that is remembered: what is not true any more is forgotten."""
    kept = _kept(ssn)
    for key in sorted(kept):
        if key in ssn.jobs.row:
            ssn.sub_jobs.of(ssn.jobs.row[key])
        else:
            del kept[key]


def note(ssn: Session, job: int, hypernode: str, groups: Mapping[str, str]) -> None:
    """Remember that a job was placed in one more hypernode, and its groups within it.

    :param groups: hypernode by UID of the group.

    Source: ``Recorder.UpdateDecisionToJob``.
    """
    division = ssn.sub_jobs.of(job)
    division.hypernode = lca(ssn, division.hypernode, hypernode)
    for sub in division.sub_jobs:
        if sub.uid in groups:
            sub.hypernode = lca(ssn, sub.hypernode, groups[sub.uid])
    _keep(ssn, job, division)


def _kept(ssn: Session) -> dict[str, dict[str, str]]:
    kept: dict[str, dict[str, str]] = ssn.process.kept.setdefault(_GIVEN, {})
    return kept


def _keep(ssn: Session, job: int, division: Division) -> None:
    given = {sub.uid: sub.hypernode for sub in division.sub_jobs if sub.hypernode}
    if division.hypernode:
        given[_JOB] = division.hypernode
    if given:
        _kept(ssn)[ssn.jobs.keys[job]] = given
    else:
        _kept(ssn).pop(ssn.jobs.keys[job], None)


def _forget_invalid(ssn: Session, job: int, division: Division) -> None:
    """Forget hypernodes that are gone, and those of whom no task holds anything any more."""
    names = ssn.hypernodes.infos
    if division.hypernode not in names or not _held(ssn, ssn.jobs.tasks[job]):
        division.hypernode = ""
    for sub in division.sub_jobs:
        if sub.hypernode not in names or not _held(ssn, sub.tasks):
            sub.hypernode = ""


def _recover(ssn: Session, job: int, division: Division) -> None:
    """Find the hypernodes of the groups by their nodes, and the job's by its groups'."""
    updated = False
    for sub in division.sub_jobs:
        if sub.topology and not sub.hypernode:
            sub.hypernode = _lowest(ssn, job, _nodes(ssn, sub.tasks))
            updated = updated or bool(sub.hypernode)
    if not division.hypernode or updated:
        common = ""
        for sub in division.sub_jobs:
            common = lca(ssn, common, sub.hypernode)
        division.hypernode = common


def _held(ssn: Session, tasks: Sequence[int]) -> list[int]:
    """Return those of some tasks that held resources when the session was opened."""
    status = ssn.snapshot.tasks.status.item
    return [task for task in tasks if status(task) in ALLOCATED_STATUS]


def _nodes(ssn: Session, tasks: Sequence[int]) -> set[str]:
    """Return the names of the nodes that some tasks hold, also of such as the session lacks."""
    return {ssn.tasks.info[task].node_name for task in _held(ssn, tasks)} - {""}


def _lowest(ssn: Session, job: int, nodes: set[str]) -> str:
    """Return the hypernode of the lowest tier that has all of some nodes; empty without any.

    Source: ``getLowestTierHyperNode``; before it ``getMinimumHyperNode``, to which a hypernode and
    one above it that has no more nodes were equal.
    """
    if not nodes:
        return ""
    tree = ssn.hypernodes
    sizes = {
        name: len(tree.real_nodes[name])
        for names in tree.by_tier.values()
        for name in names
        if nodes <= tree.real_nodes.get(name, frozenset())
    }
    least = min(sizes.values(), default=0)
    equals = sorted(name for name, size in sizes.items() if size == least)
    if ssn.behaviours.lowest_hypernode_found or len(equals) < 2:
        return next(iter(sizes), "")
    return equals[ssn.chooser.choose("hypernode", ssn.jobs.keys[job], equals)]

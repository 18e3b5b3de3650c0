"""How far a job with a hard topology came in each hypernode: details for a trace."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.session_tables import Rows, TaskStatus
from ..framework.session import Session
from ..framework.statement import OperationKind, TaskOperation
from ..framework.vote_details import (
    HYPERNODES,
    HypernodeRoom,
    HypernodesChecked,
    HypernodeTry,
    NodesChecked,
)
from ..nodes.node_selection import Purpose
from ..plugins.shared.gauge_amounts import plain
from .job_hypernode import allocated_hypernode, hard_tier, hypernode_rows

_ONE, _ROOM, _OPEN = "hypernode/", "room", "open"
_PLACED = frozenset({OperationKind.ALLOCATE, OperationKind.PIPELINE})


def note_try(
    ssn: Session,
    job: int,
    tasks: Sequence[int],
    where: tuple[str, Rows],
    done: Sequence[TaskOperation],
) -> None:
    """Keep how many tasks of a job found a place in a hypernode, before they are taken back.

    :param tasks: of the job, or of its group. :param where: the hypernode and its nodes.
    :param done: what was done for these tasks.
    """
    (name, rows), key = where, ssn.jobs.keys[job]
    if not name or not ssn.trace.follows(key):
        return
    places = sum(operation.kind in _PLACED for operation in done)
    left = [task for task in tasks if ssn.tasks.status.item(task) == TaskStatus.PENDING]
    before = ssn.trace.details.get((ssn.trace.action, _ONE + name, key))
    if isinstance(before, HypernodeTry) and (before.places or 0) > places:
        return
    who, seen = _refused(ssn, left, rows)
    seen_here = HypernodeTry(name, _tier(ssn, name), len(rows), places, who, seen)
    ssn.trace.detail(_ONE + name, key, seen_here)


def _refused(ssn: Session, left: Sequence[int], rows: Rows) -> tuple[str, NodesChecked | None]:
    """Return the first task that no node of a hypernode takes, and these nodes."""
    here = {ssn.nodes.names[row] for row in rows.tolist()}
    for task in sorted(left, key=ssn.task_name):
        name = ssn.task_name(task)
        seen = ssn.trace.details.get((ssn.trace.action, Purpose.ALLOCATE.value, name))
        if not isinstance(seen, NodesChecked) or seen.passing:
            continue
        if all(node in here for group in seen.groups for node in group.nodes):
            return name, seen
    return "", None


def keep_room(ssn: Session) -> None:
    """Keep what each hypernode has free when a session begins.

    Newer releases compare jobs with that, also after the session has placed others there.
    """
    if not ssn.trace.closely or not ssn.behaviours.topology_gradients:
        return
    for name in ssn.hypernodes.infos:
        rows = hypernode_rows(ssn, name)
        if rows is not None:
            ssn.trace.detail(_ROOM, name, HypernodeRoom(_free(ssn, rows)))


def _free(ssn: Session, rows: Rows) -> dict[str, float]:
    idle = ssn.nodes.future_idle(rows).sum(axis=0).tolist()
    return dict(zip(ssn.dims, idle, strict=True))


def keep_hypernodes(ssn: Session) -> None:
    """Keep, of each followed job with a hard topology, the hypernodes that it may be in."""
    for key in sorted(ssn.trace.closely):
        job = ssn.jobs.row.get(key)
        if job is None or not ssn.jobs.counts[job][TaskStatus.PENDING]:
            continue
        highest = _highest(ssn, job)
        if highest is not None:
            ssn.trace.detail(HYPERNODES, key, _checked(ssn, job, highest))


def _highest(ssn: Session, job: int) -> int | None:
    """Return the highest tier that a job, or else one of its groups, may span."""
    if not ssn.behaviours.topology_gradients:
        return hard_tier(ssn, job)
    division = ssn.sub_jobs.of(job)
    tiers = [sub.tier for sub in division.sub_jobs if sub.tier is not None]
    return division.tier if division.tier is not None else min(tiers, default=None)


def _checked(ssn: Session, job: int, highest: int) -> HypernodesChecked:
    tries = {
        seen.name: seen
        for (_, _, about), seen in ssn.trace.details.items()
        if about == ssn.jobs.keys[job] and isinstance(seen, HypernodeTry)
    }
    tree, least = ssn.hypernodes, ssn.jobs.min_resources(job)
    room = {}
    wanted = {name: amount for name, amount in plain(least).items() if amount}
    for tier in sorted(tree.by_tier):
        for name in sorted(tree.by_tier[tier]) if tier <= highest else ():
            rows = hypernode_rows(ssn, name)
            if rows is None:
                continue
            tries.setdefault(name, HypernodeTry(name, tier, len(rows), None))
            began = ssn.trace.details.get((_OPEN, _ROOM, name))
            free = began.free if isinstance(began, HypernodeRoom) else _free(ssn, rows)
            room[name] = {dim: free.get(dim, 0.0) for dim in wanted}
    return HypernodesChecked(
        highest=highest,
        lowest=min(tree.by_tier, default=None),
        placed_in=_placed_in(ssn, job),
        wanted=wanted,
        tries=tuple(sorted(tries.values(), key=lambda tried: (tried.tier, tried.name))),
        room=room,
    )


def _placed_in(ssn: Session, job: int) -> str:
    if ssn.behaviours.topology_gradients:
        return ssn.sub_jobs.of(job).hypernode
    return allocated_hypernode(ssn, job)


def _tier(ssn: Session, name: str) -> int:
    info = ssn.hypernodes.infos.get(name)
    return 0 if info is None else info.tier

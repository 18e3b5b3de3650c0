"""Nodes on which victims were looked for in vain: details for a trace that follows a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...model.resource import Resource
from ...model.session_tables import Floats, Rows
from ..framework.plugin_registry import GangEviction
from ..framework.vote_details import EvictionTrials, TriedNode, VictimTrial

if TYPE_CHECKING:
    from ..framework.session import Session

Counts = NDArray[np.intp]

TRIALS = "trials"
"""What details about nodes that were tried are kept under."""


def begin_trials(ssn: Session, task: int) -> None:
    """Forget the nodes that an earlier search of the same action tried for a task."""
    ssn.trace.details.pop((ssn.trace.action, TRIALS, ssn.task_name(task)), None)


def keep_trial(
    ssn: Session,
    task: int,
    trial: VictimTrial,
    node: int,
    victims: int,
    *,
    room: Floats | None = None,
) -> None:
    """Keep a node on which victims were looked for in vain, if the trace follows the task.

    :param room: what it would have with them gone, in the order of the session's dimensions.
    """
    name = ssn.task_name(task)
    if not ssn.trace.follows(name):
        return
    request = _plain(ssn, ssn.named_request(task))
    has = {} if room is None else _plain(ssn, room)
    _add(ssn, name, TriedNode(trial, ssn.nodes.names[node], victims, request, has))


def keep_short(ssn: Session, task: int, nodes: Rows, victims: Counts, room: Floats) -> None:
    """Keep the nodes that are not tried, as all possible victims together free too little.

    :param nodes: those with victims. :param victims, room: by row of all nodes.
    """
    for node in nodes.tolist() if ssn.trace.follows(ssn.task_name(task)) else ():
        keep_trial(ssn, task, VictimTrial.TOO_LITTLE, node, victims.item(node), room=room[node])


def _add(ssn: Session, name: str, tried: TriedNode) -> None:
    known, trial = ssn.trace.details.get((ssn.trace.action, TRIALS, name)), tried.trial
    before = known if isinstance(known, EvictionTrials) else EvictionTrials({}, {})
    nearest = min(
        (tried, *filter(None, (before.nearest.get(trial),))),
        key=lambda node: (node.lacks, node.node),
    )
    counts = {**before.counts, trial: before.counts.get(trial, 0) + 1}
    seen = EvictionTrials(counts, {**before.nearest, trial: nearest})
    ssn.trace.detail(TRIALS, name, seen)


def keep_domain(
    ssn: Session,
    eviction: GangEviction,
    trial: VictimTrial,
    victims: int,
    amounts: tuple[Resource, Resource],
) -> None:
    """Keep a domain in which victims were looked for in vain for a gang.

    :param amounts: what the gang needs, and what the domain would have.
    """
    if ssn.trace.follows(eviction.name):
        tried = TriedNode(trial, eviction.hypernode, victims, *map(_amounts, amounts))
        _add(ssn, eviction.name, tried)


def _amounts(resource: Resource) -> dict[str, float]:
    return {"cpu": resource.cpu, "memory": resource.memory, **(resource.scalars or {})}


def _plain(ssn: Session, amounts: Floats) -> dict[str, float]:
    pairs = zip(ssn.dims, amounts.tolist(), strict=True)
    return {name: amount for name, amount in pairs if np.isfinite(amount)}

"""Details of a search for victims, for a trace that follows a task: its gates and its votes."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...model.session_tables import Rows
from ..framework import voting
from ..framework.plugin_registry import EvictableEntry, GangEviction
from ..framework.session import Session
from ..framework.vote_details import (
    EvictionSearch,
    EvictionVotes,
    Gate,
    Gated,
    Spared,
)

Mask = NDArray[np.bool_]

GATE = "gate"
"""What details about gates are kept under."""
VICTIMS, VOTES = "victims", "votes"
"""What details about searches for victims of other jobs are kept under."""
OWN_VICTIMS, OWN_VOTES = "own-victims", "own-votes"
"""The same of victims of the same job."""


def keep_gate(ssn: Session, about: str, gate: Gate, *, voted: bool = False) -> None:
    """Keep why an action looks for no victims for a queue, a job or a pod.

    :param voted: the last step of the trace is the vote that decided.
    """
    if not ssn.trace.follows(about):
        return
    ssn.trace.detail(GATE, about, gate_of_vote(ssn, gate) if voted else Gated(gate))


def gate_of_vote(ssn: Session, gate: Gate) -> Gated:
    """Return a gate that the last step of the trace, a vote, closed."""
    step = ssn.trace.steps[-1]
    pods = step.about[1:]
    return Gated(gate, step.by, pods[0] if pods else "", step.numbers, max(1, len(pods)))


def keep_not_starving(ssn: Session, job: int) -> None:
    """Keep that the plugins do not count a job as starving: which one, and what the job has."""
    key, jobs = ssn.jobs.keys[job], ssn.jobs
    if ssn.trace.follows(key):
        numbers = {
            "held": jobs.ready_task_num(job) + jobs.waiting_task_num(job),
            "minAvailable": jobs.min_available[job],
            "pods": len(jobs.tasks[job]),
        }
        by = voting.not_starving_by(ssn, job)
        ssn.trace.detail(GATE, key, Gated(Gate.STARVES_NOT, by, numbers=numbers))


def keep_search(
    ssn: Session,
    task: int,
    counts: tuple[int, int, int] = (0, 0, 0),
    *,
    own: bool = False,
    gated: Gated | None = None,
) -> None:
    """Keep how far a search for victims came, if the trace follows the task.

    :param counts: nodes, candidates and promising nodes, as in :class:`.EvictionSearch`.
    :param own: victims are tasks of the same job.
    """
    name = ssn.task_name(task)
    if ssn.trace.follows(name):
        what = OWN_VICTIMS if own else VICTIMS
        ssn.trace.detail(what, name, EvictionSearch(gated, *counts))


def keep_votes(ssn: Session, task: int, point: str, who: Mask, *, own: bool = False) -> None:
    """Keep what plugins say of all candidates for a task, if the trace follows it fully.

    Volcano asks only about the candidates on one node, and not where no vote could help. For tasks
    of one class the answer holds until something changes on a node.

    :param point: the extension point. :param who: by task, whether it is a candidate.
    """
    key, name = ssn.jobs.keys[ssn.tasks.job.item(task)], ssn.task_name(task)
    what = OWN_VOTES if own else VOTES
    if key not in ssn.trace.fully or not ssn.trace.follows(name):
        return
    at = ssn.tasks.klass.item(task), len(ssn.touched)
    known = ssn.trace.details.get((ssn.trace.action, what, key))
    if not isinstance(known, EvictionVotes) or known.at != at:
        known = msgspec.structs.replace(_votes(ssn, point, task, np.flatnonzero(who)), at=at)
        ssn.trace.detail(what, key, known)
    ssn.trace.detail(what, name, known)


def keep_gang_votes(
    ssn: Session, eviction: GangEviction, nodes: int, candidates: list[int]
) -> None:
    """Keep what plugins say of all candidates of a domain for a gang, and how many these are.

    The first domain is the widest: it has all candidates.
    """
    key = ssn.trace.action, VICTIMS, eviction.name
    if key in ssn.trace.details:
        return
    ssn.trace.detail(VICTIMS, eviction.name, EvictionSearch(None, nodes, len(candidates), nodes))
    if eviction.name in ssn.trace.fully:
        votes = _votes(ssn, "UnifiedEvictable", eviction, np.array(candidates, dtype=np.intp))
        ssn.trace.detail(VOTES, eviction.name, votes)


class _Candidates:
    """The candidates of a search.

    :ivar pods: by job, how many are of it. :ivar first: by job, the place of its first one.
    """

    def __init__(self, ssn: Session, rows: Rows) -> None:
        self.rows, self._job = rows, ssn.tasks.job[rows]
        self.pods = np.bincount(self._job, minlength=len(ssn.jobs))
        self.first = np.zeros(len(ssn.jobs), dtype=np.intp)
        # Of places that are written twice the last one stays, so from the end the first does.
        self.first[self._job[::-1]] = np.arange(len(rows))[::-1]

    def first_of_jobs(self, may_go: Mask) -> tuple[list[int], dict[int, int]]:
        """Leave out all but the first candidate of each job of which none can be chosen.

        :returns: the rest, in the same order, and by job how many were left out.
        """
        goes = np.zeros(len(self.pods), dtype=np.bool_)
        goes[self._job[may_go]] = True
        stays = np.flatnonzero(~goes & (self.pods > 0))
        asked = goes[self._job]
        asked[self.first[stays]] = True
        left_out = zip(stays.tolist(), (self.pods[stays] - 1).tolist(), strict=True)
        return self.rows[asked].tolist(), {job: count for job, count in left_out if count}


def _votes(ssn: Session, point: str, evictor: int | GangEviction, rows: Rows) -> EvictionVotes:
    tiers: list[dict[str, int]] = []
    staying: dict[str, tuple[Spared, ...]] = {}
    agreed = 0
    candidates = _Candidates(ssn, rows)
    for tier in ssn.registry.functions(point) if len(rows) else ():
        chosen_by: dict[str, int] = {}
        common = set(rows.tolist())
        for plugin, entry in tier:
            chosen, vote, spared = _explained(ssn, entry, evictor, candidates)
            if vote:
                common &= set(chosen)
                chosen_by[plugin] = len(chosen)
                staying[plugin] = spared
        agreed = agreed or (len(common) if chosen_by else 0)
        tiers.append(chosen_by)
    return EvictionVotes(tuple(one for one in tiers if one), staying, agreed)


def _explained(
    ssn: Session, entry: EvictableEntry, evictor: int | GangEviction, candidates: _Candidates
) -> tuple[list[int], int, tuple[Spared, ...]]:
    """Return which candidates a plugin chooses, its vote, and why it chooses no others.

    In a large cluster most jobs have no candidate that the plugin can choose (``entry.may``). What
    it compares is then the same for all candidates of the job: it is asked about the first one,
    and the others are counted.
    """
    asked, uncounted = candidates.rows.tolist(), dict[int, int]()
    if entry.may is not None:
        asked, uncounted = candidates.first_of_jobs(entry.may(evictor, candidates.rows))
    reasons = ssn.trace.staying = {}
    chosen, vote = entry.function(evictor, asked)
    ssn.trace.staying = None
    by_name = {spared.about: spared for spared in reasons.values()}
    for job, pods in uncounted.items():
        key, queue = ssn.jobs.keys[job], ssn.jobs.queue[job]
        by_name[key if key in by_name else queue].pods += pods
    return chosen or [], vote, tuple(reasons.values())

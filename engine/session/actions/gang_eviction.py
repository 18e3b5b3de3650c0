"""What ``gangpreempt`` and ``gangreclaim`` share: evictions for a whole gang, or none.

For each starving job, hypernodes are tried as domains, the widest first. In a domain
the victims are in bundles (:mod:`.bundle`). Bundles are added until enough is free, and
a simulation places the gang (:mod:`.simulated_placement`).

The hypernode with the new room is known only in that session: Volcano stores it in the
session's copy of the job (``NominatedHyperNode``), where no later session finds it; only an
``allocate`` that follows in the same session heeds it (:mod:`.nomination`). What remains is each
pod's ``nominatedNodeName``; ``allocate`` tries that node first.

Source: ``pkg/scheduler/actions/gangpreempt``, ``gangreclaim``, ``actions/utils/util.go`` since
v1.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...model.resource import ZERO, Resource
from ...model.session_tables import NO_JOB, Rows
from ...model.task import PREEMPTABLE
from ..framework import framework_orders as orders
from ..framework import voting
from ..framework.plugin_registry import GangEviction
from ..framework.session import Session
from ..framework.statement import Statement
from ..framework.vote_details import Gate, VictimTrial
from ..nodes.eviction_trials import keep_domain
from ..nodes.node_selection import NodeSelection
from ..nodes.node_views import NodeViews
from ..topology.top_hypernode import CLUSTER_TOP
from .bundle import Bundle, apply_allowed, create_job_bundles
from .eviction_details import keep_gang_votes, keep_gate
from .eviction_victims import starving_jobs
from .job_hypernode import hypernode_rows
from .simulated_placement import pending_tasks, plan_in_domain

MOST_DOMAINS = "maxDomains"
TAKES_WHOLE = "allowWholeBundle"
_DEFAULT_DOMAINS = 8

Verdicts = NDArray[np.bool_]


class GangArguments(msgspec.Struct):
    """The process's last arguments, by action: how many domains, may jobs lose their gang.

    A process has one record per action.
    """

    by_action: dict[str, tuple[int, bool]] = msgspec.field(default_factory=dict)


class GangRules(msgspec.Struct, frozen=True):
    """The differences between the two actions.

    :param may: whether the action evicts for these tasks of a queue.
    :param may_be_evicted: (job, task, its status on its node): whether the task may be evicted.
    :param sort: sorts the bundles for a job, those to use first in front.
    """

    action: Literal["gangpreempt", "gangreclaim"]
    skips: Callable[[Session, str], bool]
    may: Callable[[Session, str, list[int]], bool]
    may_be_evicted: Callable[[Session, int, int, int], bool]
    sort: Callable[[Session, int, list[Bundle], Resource], list[Bundle]]


class _Search(msgspec.Struct, frozen=True):
    """The search for victims of one job.

    :param need: what its pending tasks request.
    """

    rules: GangRules
    job: int
    need: Resource
    takes_whole: bool


def execute(ssn: Session, views: NodeViews, rules: GangRules) -> None:
    """Take queues and their starving jobs in order; evict for a job if that pipelines it."""
    most, takes_whole = _arguments(ssn, rules.action)
    names, jobs_of, _ = starving_jobs(ssn)
    queues = orders.queues_in_order(ssn, names)
    while queues:
        queue = queues.pop()
        if rules.skips(ssn, queue):
            keep_gate(ssn, queue, Gate.OVERUSED, voted=True)
            continue
        jobs = jobs_of.get(queue)
        while jobs:
            job = jobs.pop()
            statement, hypernodes = Statement(ssn), dict[str, str]()
            pending = pending_tasks(ssn, job)
            if pending and not rules.may(ssn, queue, pending):
                keep_gate(ssn, ssn.jobs.keys[job], Gate.MAY_NOT_RECLAIM, voted=True)
            elif pending:
                need = ssn.jobs.sum_requests(pending)
                hypernodes = _evict(
                    ssn, views.selection, statement, _Search(rules, job, need, takes_whole), most
                )
            if voting.job_pipelined(ssn, job):
                statement.commit()
                _nominate(ssn, job, hypernodes)
            else:
                statement.discard()


def _arguments(ssn: Session, action: str) -> tuple[int, bool]:
    """Return how many domains are tried, and whether jobs may lose their gang.

    Arguments that a configuration leaves out keep their old values.
    """
    known = ssn.process.memory.of(GangArguments).by_action
    most, takes_whole = known.get(action, (_DEFAULT_DOMAINS, True))
    given = ssn.conf.action_arguments(action)
    most = given.get_int(MOST_DOMAINS, most)
    known[action] = (
        most if most > 0 else _DEFAULT_DOMAINS,
        given.get_bool(TAKES_WHOLE, takes_whole),
    )
    return known[action]


def _nominate(ssn: Session, job: int, hypernodes: dict[str, str]) -> None:
    """Store where room was made for the groups of a job, for the rest of the session."""
    for sub in ssn.sub_jobs.of(job).sub_jobs if hypernodes else ():
        sub.nominated = hypernodes.get(sub.uid, sub.nominated)
        ssn.sub_jobs.nominated.add(job)


def _evict(
    ssn: Session, selection: NodeSelection, statement: Statement, search: _Search, most: int
) -> dict[str, str]:
    """Find the first domain, and the fewest bundles there, that make room; plan the evictions.

    :returns: the hypernodes in which the job's groups find room, by UID; empty if there is none.
    """
    for domain in _domains(ssn, search.job, most):
        rows = hypernode_rows(ssn, domain)
        if rows is None or not len(rows):
            continue
        eviction = GangEviction(search.rules.action, search.job, domain, ssn.jobs.keys[search.job])
        room = _room(ssn, rows)
        victims: list[int] = []
        for bundle in _bundles(ssn, search, eviction, rows):
            victims += bundle.tasks
            room.add(bundle.freed)
            if not search.need.less_equal(room, ZERO):
                continue
            plan = plan_in_domain(ssn, selection, eviction, victims)
            if plan is None:
                keep_domain(ssn, eviction, VictimTrial.KEPT_OUT, len(victims), (search.need, room))
                continue
            error = statement.recover_operations(plan.operations)
            if error is None:
                return plan.hypernodes
            ssn.errors.append(f"Failed to recover operations: {error}")
        if not search.need.less_equal(room, ZERO):
            keep_domain(ssn, eviction, VictimTrial.TOO_LITTLE, len(victims), (search.need, room))
    return {}


def _domains(ssn: Session, job: int, most: int) -> list[str]:
    """Return the hypernodes that are tried for a job, the widest first.

    Source: ``GetCandidateDomains``.
    """
    division = ssn.sub_jobs.of(job)
    if division.tier is None:
        return [CLUSTER_TOP]
    gradients = voting.hyper_node_gradient(
        ssn,
        CLUSTER_TOP,
        division.tier,
        division.hypernode,
        ssn.jobs.min_resources(job),
        purpose="evict",
    )
    # The plugin has cut the list before (`reverseAndCapEvictionGradients`); this is `maxDomains`.
    return list(dict.fromkeys(name for gradient in gradients for name in gradient))[:most]


def _room(ssn: Session, rows: Rows) -> Resource:
    """Return what is idle or releasing on nodes; pipelined tasks are ignored."""
    room = (ssn.nodes.idle[rows] + ssn.nodes.releasing[rows]).sum(axis=0)
    return Resource.from_vector(ssn.dims, room.tolist())


def _bundles(ssn: Session, search: _Search, eviction: GangEviction, rows: Rows) -> list[Bundle]:
    """Return the bundles of victims on some nodes that plugins let a job evict, in order."""
    rules, job = search.rules, search.job
    tasks_of: dict[int, list[int]] = {}
    for row in rows.tolist():
        for task, status in ssn.nodes.tasks(row).values():
            theirs = ssn.tasks.job.item(task)
            if (
                theirs != NO_JOB
                and ssn.tasks.info[task].preemptable
                and rules.may_be_evicted(ssn, job, task, status)
                and may_lose_gang(ssn, theirs)
            ):
                tasks_of.setdefault(theirs, []).append(task)
    bundles = [
        bundle
        # Volcano takes jobs from a map; both orders of bundles end with a unique key, so it is the
        # same.
        for each in sorted(tasks_of)
        for bundle in create_job_bundles(ssn, each, tasks_of[each])
    ]
    bundles = rules.sort(ssn, job, bundles, search.need)
    candidates = [task for bundle in bundles for task in bundle.tasks]
    if ssn.trace.follows(eviction.name):
        keep_gang_votes(ssn, eviction, len(rows), candidates)
    allowed = set(voting.unified_evictable(ssn, eviction, candidates)) if candidates else set()
    # Sorted again: a safe bundle that lost tasks is worth less than before.
    bundles = rules.sort(ssn, job, apply_allowed(ssn, bundles, allowed), search.need)
    return [bundle for bundle in bundles if search.takes_whole or not bundle.whole]


def may_lose_gang(ssn: Session, job: int) -> bool:
    """Return whether a PodGroup may be preempted, by its annotation or label.

    Source: ``IsJobPreemptableForGangEviction``.
    """
    metadata = ssn.jobs.pod_group(job).metadata
    says = PREEMPTABLE in metadata.annotations or PREEMPTABLE in metadata.labels
    return ssn.jobs.info[job].preemptable or not says

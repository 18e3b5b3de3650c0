"""preempt with ``enableTopologyAwarePreemption``: the node where the least important pods go.

On each node victims are tried out: first so many as are needed, then those that can stay after all.
Affinity to pods is asked again, as the victims would be gone.

Source: ``pkg/scheduler/actions/preempt/preempt.go`` (``topologyAwarePreempt``,
``SelectVictimsOnNode``, ``pickOneNodeForPreemption``) since v1.13.
"""

from __future__ import annotations

from typing import NamedTuple

from ...kubernetes.objects.metadata import seconds
from ...model.tables import Rows
from ..framework.kept_arguments import KeptArguments
from ..framework.priority_queue import PriorityQueue
from ..framework.session import Session, fits
from ..framework.statement import Statement
from .victims import victims_queue, would_help

ENABLED = "enableTopologyAwarePreemption"
_OPTIONS = "preempt: options"


class _Candidate(NamedTuple):
    """A node, and who would have to go there."""

    node: int
    victims: list[int]


class _Trial(NamedTuple):
    """A victim that is gone on trial, and what it was before."""

    victim: int
    status: int
    attempt: Statement


class _Options(NamedTuple):
    """What the action was told of this kind of preemption: in per cent, and numbers of nodes."""

    enabled: bool = False
    percentage: int = 10
    least: int = 1
    most: int = 100


def read_arguments(ssn: Session) -> None:
    """Read what the configuration says; the action does so whenever it runs.

    What it leaves out stays as the one before had it.
    """
    arguments, default = KeptArguments(ssn, "preempt"), _Options()
    ssn.process.kept[_OPTIONS] = _Options(
        arguments.get_bool(ENABLED, default.enabled),
        arguments.get_int("minCandidateNodesPercentage", default.percentage),
        arguments.get_int("minCandidateNodesAbsolute", default.least),
        arguments.get_int("maxCandidateNodesAbsolute", default.most),
    )


def _options(ssn: Session) -> _Options:
    options: _Options = ssn.process.kept.get(_OPTIONS, _Options())
    return options


def enabled(ssn: Session) -> bool:
    """Return whether the action was told to preempt in this way, and the release can."""
    return ssn.behaviours.topology_aware_preemption and _options(ssn).enabled


def preempt(ssn: Session, statement: Statement, task: int, rows: Rows, *, own: bool) -> bool:
    """Evict on the best of the first nodes where that helps, and pipeline a task there."""
    candidates: list[_Candidate] = []
    wanted = _number(ssn, len(rows))
    for node in rows.tolist():
        victims = _victims_on(ssn, task, node, own=own)
        if victims:
            candidates.append(_Candidate(node, victims))
            if len(candidates) == wanted:
                break
    if not candidates:
        return False
    best = min(candidates, key=lambda candidate: _rank(ssn, candidate))
    attempt = Statement(ssn)
    for victim in best.victims:
        attempt.evict(victim, "preempt")
    if attempt.pipeline(task, best.node, evicted=True) is not None:
        attempt.un_pipeline(task)
        if ssn.behaviours.evictions_on_unused_nodes_undone:
            attempt.discard()
            return False
    statement.merge(attempt)
    return True


def _number(ssn: Session, nodes: int) -> int:
    """Return how many candidates are enough. Source: ``calculateNumCandidates``."""
    options = _options(ssn)
    part = nodes * options.percentage // 100
    return min(max(part, options.least), options.most, nodes)


def _victims_on(ssn: Session, task: int, node: int, *, own: bool) -> list[int]:
    """Return who has to go on a node for a task; nobody, if that does not help."""
    who = ssn.lying.preemptable_by(task, own=own)
    possible = ssn.preemptable(task, ssn.lying.on(node, who))
    if not would_help(ssn, task, node, possible):
        return []
    if ssn.trials_fail:
        return []
    if not (ssn.affinity_heeds_victims or ssn.simulated_predicate(task, node)):
        return []
    ssn.tries_out = True
    victims = _tried_out(ssn, task, node, victims_queue(ssn, possible, task))
    ssn.tries_out = False
    return victims


def _tried_out(ssn: Session, task: int, node: int, waiting: PriorityQueue[int]) -> list[int]:
    """Return whom of the waiting it takes; all of them are back on the node in the end."""
    gone: list[_Trial] = []
    while waiting:
        gone.append(_without(ssn, waiting.pop()))
        if _fits(ssn, task, node):
            break
    victims: list[int] = []
    if gone and _affinity_allows(ssn, task, node):
        order = reversed(gone) if ssn.behaviours.important_victims_reprieved_first else iter(gone)
        for trial in list(order):
            _bring_back(ssn, trial)
            gone.remove(trial)
            if not _fits(ssn, task, node):
                gone.append(_without(ssn, trial.victim))
                victims.append(trial.victim)
    for trial in reversed(gone):
        _bring_back(ssn, trial)
    return victims


def _without(ssn: Session, victim: int) -> _Trial:
    """Evict a victim on trial."""
    trial = _Trial(victim, ssn.tasks.status.item(victim), Statement(ssn))
    trial.attempt.evict(victim, "preempt")
    return trial


def _bring_back(ssn: Session, trial: _Trial) -> None:
    """Undo a trial; the victim is what it was, where taking back would make it Running."""
    trial.attempt.discard()
    if ssn.tasks.status.item(trial.victim) != trial.status:
        ssn.set_status(trial.victim, trial.status)
        ssn.replace(trial.victim, ssn.tasks.node.item(trial.victim))


def _fits(ssn: Session, task: int, node: int) -> bool:
    queue = ssn.jobs.queue[ssn.tasks.job.item(task)]
    return (
        ssn.allocatable(queue, task)
        and fits(ssn.asked(task), ssn.nodes.future_idle(node))
        and _affinity_allows(ssn, task, node)
    )


def _affinity_allows(ssn: Session, task: int, node: int) -> bool:
    """Return whether affinity to pods allows a node; it does already if it heeds no victims."""
    return not ssn.affinity_heeds_victims or ssn.simulated_predicate(task, node)


def _rank(ssn: Session, candidate: _Candidate) -> tuple[int, int, int, int, str]:
    """Return what is least for the best candidate: who goes should matter least, and be few."""
    pods = [ssn.tasks.info[victim].pod for victim in candidate.victims]
    priorities = [pod.spec.priority or 0 for pod in pods]
    total = sum(priority + 2**31 for priority in priorities)
    present = ssn.now // 1_000_000
    started = [
        seconds(pod.status.start_time) if pod.status.start_time else present
        for pod, priority in zip(pods, priorities, strict=True)
        if priority == max(priorities)
    ]
    name = ssn.nodes.names[candidate.node]
    return priorities[0], total, len(pods), -min(started), name

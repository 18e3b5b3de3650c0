"""preempt with ``enableTopologyAwarePreemption``: the node with the least important victims.

On each node victims are simulated: first all that are needed, then some are reprieved.
Pod affinity and shared devices are checked again, as if the victims were gone.

Source: ``pkg/scheduler/actions/preempt/preempt.go`` (``topologyAwarePreempt``,
``SelectVictimsOnNode``, ``pickOneNodeForPreemption``) since v1.13.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...kubernetes.objects.metadata import seconds
from ...model.session_tables import Rows
from ..framework import voting
from ..framework.framework_orders import victims_queue
from ..framework.session import Session, fits
from ..framework.statement import Statement
from ..framework.vote_details import VictimTrial
from ..nodes.eviction_candidates import EvictionCandidates
from ..nodes.eviction_trials import keep_trial
from .eviction_victims import would_help

ENABLED = "enableTopologyAwarePreemption"


class _Candidate(msgspec.Struct, frozen=True):
    """A node, and who would have to go there."""

    node: int
    victims: list[int]


class _Simulated(msgspec.Struct, frozen=True):
    """A victim whose eviction is simulated, and its state before."""

    victim: int
    status: int
    attempt: Statement


class TopologyAwareOptions(msgspec.Struct):
    """The process's memory of this kind of preemption: its last arguments.

    :ivar percentage: how many of the nodes are candidates, between ``least`` and ``most``.
    """

    enabled: bool = False
    percentage: int = 10
    least: int = 1
    most: int = 100


def read_arguments(ssn: Session) -> None:
    """Read the arguments, each time that the action runs.

    Missing arguments keep their old values.
    """
    options, given = _options(ssn), ssn.conf.action_arguments("preempt")
    options.enabled = given.get_bool(ENABLED, options.enabled)
    options.percentage = given.get_int("minCandidateNodesPercentage", options.percentage)
    options.least = given.get_int("minCandidateNodesAbsolute", options.least)
    options.most = given.get_int("maxCandidateNodesAbsolute", options.most)


def _options(ssn: Session) -> TopologyAwareOptions:
    return ssn.process.memory.of(TopologyAwareOptions)


def enabled(ssn: Session) -> bool:
    """Return whether this kind of preemption is enabled, and the release has it."""
    return ssn.behaviours.topology_aware_preemption and _options(ssn).enabled


def preempt(
    ssn: Session,
    candidates: EvictionCandidates,
    statement: Statement,
    task: int,
    rows: Rows,
    *,
    own: bool,
) -> bool:
    """Evict on the best of the first nodes where that helps, and pipeline a task there."""
    viable: list[_Candidate] = []
    wanted = _number(ssn, len(rows))
    # Volcano starts at a random node (`GetOffsetAndNumCandidates`); here the first by name is
    # first.
    for node in rows.tolist():
        victims = _victims_on(ssn, candidates, task, node, own=own)
        if victims:
            viable.append(_Candidate(node, victims))
            if len(viable) == wanted:
                break
    if not viable:
        return False
    best = min(viable, key=lambda candidate: _rank(ssn, candidate))
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


def _victims_on(
    ssn: Session, candidates: EvictionCandidates, task: int, node: int, *, own: bool
) -> list[int]:
    """Return the victims on a node for a task; empty if evicting them does not help."""
    who = candidates.preemptable_by(task, own=own)
    possible = voting.preemptable(ssn, task, candidates.on(node, who))
    if not would_help(ssn, task, node, possible):
        return []
    if ssn.simulations_fail:
        return []
    if not (ssn.affinity_counts_victims or ssn.simulated_predicate(task, node)):
        return []
    # Their order is that of jobs as they are: the original does not change them to simulate.
    waiting = victims_queue(ssn, possible, task)
    ordered = [waiting.pop() for _ in range(len(waiting))]
    assert not ssn.registry.simulating, "the simulation of a node ends before that of the next"
    ssn.registry.simulating = True
    victims = _needed_victims(ssn, task, node, ordered)
    ssn.registry.simulating = False
    if not victims:
        keep_trial(ssn, task, VictimTrial.KEPT_OUT, node, len(possible))
    return victims


def _needed_victims(ssn: Session, task: int, node: int, ordered: Sequence[int]) -> list[int]:
    """Return which victims are needed; all evictions are undone at the end."""
    gone: list[_Simulated] = []
    for victim in ordered:
        gone.append(_without(ssn, victim))
        if _fits(ssn, task, node):
            break
    victims: list[int] = []
    # Only the filters are asked again, not room: `SelectVictimsOnNode` reprieves even where all
    # that could go was not enough.
    if gone and _is_allowed(ssn, task, node):
        order = reversed(gone) if ssn.behaviours.important_victims_reprieved_first else iter(gone)
        for simulated in list(order):
            _bring_back(ssn, simulated)
            gone.remove(simulated)
            if not _fits(ssn, task, node):
                gone.append(_without(ssn, simulated.victim))
                victims.append(simulated.victim)
    ssn.registry.undoing = True
    for simulated in reversed(gone):
        _bring_back(ssn, simulated)
    ssn.registry.undoing = False
    return victims


def _without(ssn: Session, victim: int) -> _Simulated:
    """Evict a victim in a simulation."""
    simulated = _Simulated(victim, ssn.tasks.status.item(victim), Statement(ssn))
    simulated.attempt.evict(victim, "preempt")
    return simulated


def _bring_back(ssn: Session, simulated: _Simulated) -> None:
    """Undo a simulated eviction: the victim gets its old status, not always Running."""
    simulated.attempt.discard()
    if ssn.tasks.status.item(simulated.victim) != simulated.status:
        ssn.set_status(simulated.victim, simulated.status)
        ssn.replace(simulated.victim, ssn.tasks.node.item(simulated.victim))


def _fits(ssn: Session, task: int, node: int) -> bool:
    queue = ssn.jobs.queue[ssn.tasks.job.item(task)]
    return (
        voting.allocatable(ssn, queue, task)
        and fits(ssn.named_request(task), ssn.nodes.future_idle(node))
        and _is_allowed(ssn, task, node)
    )


def _is_allowed(ssn: Session, task: int, node: int) -> bool:
    """Return whether pod affinity and devices allow a node.

    Affinity is not checked again if it ignores victims.
    """
    if ssn.affinity_counts_victims and not ssn.simulated_predicate(task, node):
        return False
    return ssn.devices_allow(task, node)


def _rank(ssn: Session, candidate: _Candidate) -> tuple[int, int, int, int, str]:
    """Return a key that is least for the best candidate: unimportant and few victims."""
    pods = [ssn.tasks.info[victim].pod for victim in candidate.victims]
    priorities = [pod.spec.priority or 0 for pod in pods]
    # Shifted above 0: otherwise more victims of negative priority would count as fewer.
    total = sum(priority + 2**31 for priority in priorities)
    present = ssn.now // 1_000_000
    started = [
        seconds(pod.status.start_time) if pod.status.start_time else present
        for pod, priority in zip(pods, priorities, strict=True)
        if priority == max(priorities)
    ]
    name = ssn.nodes.names[candidate.node]
    # The first victim stands for the most important one, as in `minHighestPriorityScoreFunc`.
    return priorities[0], total, len(pods), -min(started), name

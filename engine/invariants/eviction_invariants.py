"""Invariants of the evictions of a session: they serve a pod, and the rules permit them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..cache.job_cache import job_of
from ..kubernetes.objects import Pod
from ..kubernetes.units import format_amount
from ..model.job import JobInfo
from ..model.resource import MIN_RESOURCE, Resource
from ..model.resource_names import PODS
from ..model.task import TaskInfo
from .demand import Amounts, DemandOfQueues, amounts_of, summed
from .invariant import NODE, POD, PODGROUP, QUEUE, SESSION, Invariant, Needs, Severity, Violation
from .texts import names_of
from .view import ClusterView, QueueLimits

_ALL = (NODE, QUEUE, PODGROUP, POD)
_FOR_ANOTHER = frozenset({"preempt", "reclaim", "gangpreempt", "gangreclaim"})
"""Reasons of evictions that are for another pod. Others free nodes for no pod in particular."""

_BY_GANG = frozenset({"gangpreempt", "gangreclaim"})
"""Reasons of evictions that may take a whole gang, on several nodes."""

_FROM_OTHER_QUEUES = frozenset({"reclaim", "gangreclaim"})


class _Victim(NamedTuple):
    """A pod that a session evicts. :param task: as the scheduler's cache has it."""

    pod: Pod
    reason: str
    job: JobInfo
    task: TaskInfo

    @property
    def node(self) -> str:
        """The node that it leaves."""
        return self.pod.spec.node_name


def _victims(view: ClusterView) -> Iterator[_Victim]:
    """Yield the evictions of the session that are for another pod."""
    for key, reason in view.session.result.evictions if view.session else ():
        pod = view.pods.get(key)
        job = None if pod is None else view.cache.jobs.get(job_of(pod))
        task = None if pod is None or job is None else job.tasks.get(pod.uid)
        if reason in _FOR_ANOTHER and pod is not None and job is not None and task is not None:
            yield _Victim(pod, reason, job, task)


def _served(view: ClusterView) -> Mapping[str, list[Pod]]:
    """Return the pods that the session places or promises a place, by node."""
    by_node: dict[str, list[Pod]] = {}
    result = None if view.session is None else view.session.result
    for key, node in () if result is None else (*result.pipelined, *result.binds):
        pod = view.pods.get(key)
        if pod is not None:
            by_node.setdefault(node, []).append(pod)
    return by_node


def eviction_has_purpose(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield evictions on nodes where the session places nothing.

    An action for gangs may evict a gang as a whole: then one of its nodes must serve.
    """
    served, victims = _served(view), list(_victims(view))
    useful = {
        victim.job.key for victim in victims if victim.reason in _BY_GANG and victim.node in served
    }
    vain: dict[str, list[str]] = {}
    for victim in victims:
        if victim.node not in served and victim.job.key not in useful:
            vain.setdefault(victim.reason, []).append(f"{victim.pod.key} on {victim.node}")
    for reason, pods in sorted(vain.items()):
        message = (
            f"the session evicts {names_of(pods, 'pod')} ({reason}), "
            f"and places nothing on these nodes"
        )
        yield Violation("Scheduler", view.cache.behaviours.release, message, reason)


def victim_is_fair(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield evictions that the victim's queue, priority or annotation forbids."""
    served = _served(view)
    for victim in _victims(view):
        for field, message in _unfair(view, victim, served.get(victim.node, [])):
            yield Violation("Pod", victim.pod.key, f"the session evicts it ({message})", field)
    yield from _below_guarantee(view)


def _unfair(view: ClusterView, victim: _Victim, served: list[Pod]) -> Iterator[tuple[str, str]]:
    """Yield why a session must not evict a pod, with a name for the reason."""
    # Some releases let a job preempt pods that it marks as not preemptable, for its other pods.
    own = any(job_of(pod) == victim.job.key for pod in served)
    within = own and view.cache.behaviours.unpreemptable_preempted_within_job
    if not victim.task.preemptable and not within:
        yield "preemptable", "by its annotation or label it is not preemptable"
    queue = view.cache.queues.get(victim.job.queue)
    if victim.reason in _FROM_OTHER_QUEUES:
        if queue is not None and not queue.reclaimable:
            yield "reclaimable", f"its queue {queue.name} is not reclaimable"
        return
    jobs = [job for pod in served if (job := view.cache.jobs.get(job_of(pod))) is not None]
    # Where nothing is placed, the invariant of purpose reports the eviction.
    if jobs and all(job.queue != victim.job.queue for job in jobs):
        yield "queue", f"preempt is within a queue, and no pod of {victim.job.queue} gets its place"
    plugins = frozenset[str]() if view.session is None else view.session.plugins
    if "priority" in plugins and jobs and not own:
        most = max(job.priority for job in jobs)
        if victim.job.priority > most:
            yield "priority", f"its priority {victim.job.priority} is above {most} of the preemptor"


def _below_guarantee(view: ClusterView) -> Iterator[Violation]:
    """Yield queues that the session takes resources from that are guaranteed to them."""
    session = view.session
    if session is None or session.limits is QueueLimits.NOTHING:
        return
    taken = [victim for victim in _victims(view) if victim.reason in _FROM_OTHER_QUEUES]
    demand = DemandOfQueues(view, tree=False)
    lost = demand.of_pods(victim.pod.key for victim in taken)
    for name in sorted(lost):
        info = view.cache.queues.get(name)
        for resource in sorted(info.queue.spec.guarantee.resource) if info else ():
            assert info is not None
            least = amounts_of(info.guarantee).get(resource, 0.0)
            before = demand.held.get(name, {}).get(resource, 0.0)
            after = before - lost[name].get(resource, 0.0)
            # Only if this session takes it below the guarantee: it may have been below before.
            if before >= least > after + MIN_RESOURCE:
                message = (
                    f"the session evicts pods of it ({taken[0].reason}) until it has "
                    f"{format_amount(resource, after)} of {resource}, although "
                    f"{format_amount(resource, least)} is guaranteed"
                )
                yield Violation("Queue", name, message, f"guarantee.{resource}")


def deserved_is_kept(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield queues from which the session takes what they deserve, for pods of other queues.

    A pod may be taken as long as its queue has more than it deserves of something that the pod
    requests, so the last one may take it a little below.
    """
    session = view.session
    if session is None or not session.result.deserved:
        return
    demand = DemandOfQueues(view, tree=False)
    holdings = summed(demand.held, demand.of_pods(key for key, _ in session.result.binds))
    left = {queue: dict(amounts) for queue, amounts in holdings.items()}
    worst: dict[tuple[str, str], tuple[str, float, float]] = {}
    for victim in _victims(view):
        if victim.reason not in _FROM_OTHER_QUEUES:
            continue
        queue, request = victim.job.queue, amounts_of(victim.task.request)
        deserved = amounts_of(session.result.deserved.get(queue, Resource()))
        taken = [name for name in sorted(request) if _is_shared(name, request, deserved)]
        has = left.setdefault(queue, {})
        rich = any(has.get(name, 0.0) - deserved[name] >= MIN_RESOURCE for name in taken)
        for name, amount in request.items():
            has[name] = has.get(name, 0.0) - amount
        for name in () if rich else taken:
            worst[queue, name] = victim.reason, has[name], deserved[name]
    for (queue, name), (reason, after, least) in sorted(worst.items()):
        before = holdings.get(queue, {}).get(name, 0.0)
        message = (
            f"the session evicts pods of it ({reason}) until it has {format_amount(name, after)} "
            f"of {name}, before {format_amount(name, before)}, although it deserves "
            f"{format_amount(name, least)}"
        )
        yield Violation("Queue", queue, message, f"deserved.{name}")


def _is_shared(name: str, request: Amounts, deserved: Amounts) -> bool:
    """Return whether a pod requests a resource of which its queue deserves something."""
    return name != PODS and min(request[name], deserved.get(name, 0.0)) >= MIN_RESOURCE


INVARIANTS = (
    Invariant(
        id="I-16",
        name="eviction-purpose",
        severity=Severity.CRITICAL,
        statement="A session evicts pods only from nodes on which it places another one.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=_ALL,
        settles=False,
        check=eviction_has_purpose,
    ),
    Invariant(
        id="I-24",
        name="preempt-fairness",
        severity=Severity.MEDIUM,
        statement=(
            "A session evicts no pod that its queue, its priority or its annotation protects."
        ),
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=_ALL,
        settles=False,
        check=victim_is_fair,
    ),
    Invariant(
        id="I-24b",
        name="deserved-kept",
        severity=Severity.HIGH,
        statement="No session takes pods from a queue that has no more than it deserves.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=_ALL,
        settles=False,
        check=deserved_is_kept,
    ),
)
"""The invariants of this module."""

"""Invariants of PodGroups and of the pods that name them."""

from __future__ import annotations

from collections.abc import Iterator

from ..cache.job_cache import job_of
from ..events import OwnerName, Reference, is_owner
from ..kubernetes.objects import Object, OwnerReference, Pod, PodGroup
from ..model.job import JobInfo
from .invariant import (
    NODE,
    POD,
    PODGROUP,
    QUEUE,
    SESSION,
    Invariant,
    Needs,
    Severity,
    Violation,
    newest,
)
from .texts import names_of
from .view import ClusterView, has_place, is_live

VOLCANO = "system:serviceaccount:volcano-system:"
"""How the names of Volcano's components begin in an audit log."""

_OWNERS = frozenset({"Pod", "ReplicaSet", "StatefulSet"})
"""Kinds of owners that a scheduler watches."""

_ENDED = frozenset({"Completed"})


def cache_has_podgroup(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a PodGroup that the cache lacks, has under another uid, or has although it is gone."""
    group: PodGroup | None = view.truth.get("PodGroup", key)
    job: JobInfo | None = view.cache.jobs.get(key)
    cached = None if job is None else job.pod_group
    if group is None and cached is None:
        return
    if group is None:
        message = "the scheduler's cache has the PodGroup, but it does not exist"
    elif cached is None:
        message = "the scheduler's cache lacks the PodGroup: no session sees its pods"
    elif cached.uid != group.uid:
        message = f"the scheduler's cache has uid {cached.uid}, the API server has {group.uid}"
    else:
        return
    yield Violation("PodGroup", key, message, newest=newest(group))


def cache_has_pod(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a pod without a node that no session sees."""
    pod: Pod | None = view.truth.get("Pod", key)
    if pod is None or pod.spec.node_name or not is_live(pod) or not _is_ours(view, pod):
        return
    named = job_of(pod)
    job = view.cache.jobs.get(named)
    if not named:
        message = "it names no PodGroup: no session sees it"
    elif job is None or pod.uid not in job.tasks:
        message = f"the scheduler's cache does not have it as a task of PodGroup {named}"
    else:
        return
    yield Violation("Pod", key, message, newest=newest(pod))


def podgroup_exists(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a pod whose PodGroup does not exist."""
    pod: Pod | None = view.truth.get("Pod", key)
    if pod is None or not is_live(pod) or not _is_ours(view, pod):
        return
    named = job_of(pod)
    if named and view.group_of(pod) is None:
        then = "" if pod.spec.node_name else ": it stays Pending"
        message = f"it names PodGroup {named}, which does not exist{then}"
        yield Violation("Pod", key, message, newest=newest(pod))


def owner_is_current(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a PodGroup whose owner was replaced by a new object of the same name."""
    group: PodGroup | None = view.truth.get("PodGroup", key)
    if group is None:
        return
    for owner in group.metadata.owner_references:
        if owner.kind in _OWNERS:
            now: Object | None = view.truth.get(owner.kind, f"{group.namespace}/{owner.name}")
            if now is not None and not _is_owner(group, owner, now.uid):
                message = (
                    f"its owner is {owner.kind} {owner.name} with uid {owner.uid}, which is gone; "
                    f"the {owner.kind} of that name has uid {now.uid}"
                )
                yield Violation("PodGroup", key, message, owner.name, newest(group, now))
        yield from _pods_of_another(view, group, (owner.kind, owner.name, owner.uid))


def _is_owner(group: PodGroup, owner: OwnerReference, uid: str) -> bool:
    """Return whether an object with a uid and an owner's kind and name is that owner."""
    named = OwnerName(owner.api_version, owner.kind, owner.name, owner.uid)
    api_group = owner.api_version.rpartition("/")[0]
    return is_owner(Reference(api_group, owner.kind, group.namespace, owner.name, uid), named)


def _pods_of_another(
    view: ClusterView, group: PodGroup, owner: tuple[str, str, str]
) -> Iterator[Violation]:
    """Yield live pods that an object of the owner's name, but another uid, controls."""
    kind, name, uid = owner
    for pod in view.pods.of(group.key):
        controller = pod.metadata.controller
        if controller is None or not is_live(pod):
            continue
        if (controller.kind, controller.name) == (kind, name) and controller.uid != uid:
            message = (
                f"PodGroup {group.key} belongs to {kind} {name} with uid {uid}, "
                f"the pod to the one with uid {controller.uid}"
            )
            yield Violation("Pod", pod.key, message, "owner", newest(group, pod))


def queue_exists(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a PodGroup whose queue does not exist."""
    group: PodGroup | None = view.truth.get("PodGroup", key)
    if group is None or group.status.phase in _ENDED:
        return
    queue = view.queue_of(group)
    if view.truth.get("Queue", queue) is None:
        yield Violation("PodGroup", key, f"its queue {queue} does not exist", newest=newest(group))


def phase_is_true(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a PodGroup whose phase contradicts how many of its pods have a node.

    Pods that are being deleted may count or not: releases differ.
    """
    group: PodGroup | None = view.truth.get("PodGroup", key)
    if group is None:
        return
    phase, least, placed = group.status.phase, group.spec.min_member, view.placed(group)
    pods = view.pods.of(key)
    staying = sum(has_place(pod) and pod.metadata.deletion_timestamp is None for pod in pods)
    if phase == "Running" and placed < least:
        message = f"its phase is Running, but {placed} of minMember {least} pods have a node"
    elif phase == "Pending" and 0 < least <= staying:
        message = f"its phase is Pending, but {_pods(staying)} a node (minMember {least})"
    else:
        return
    yield Violation("PodGroup", key, message, newest=newest(group, *pods))


def completed_is_true(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a PodGroup that is Completed although one of its pods still waits for a node."""
    group: PodGroup | None = view.truth.get("PodGroup", key)
    if group is not None and group.status.phase in _ENDED:
        waiting = _waiting(view, key)
        if waiting:
            message = (
                f"its phase is Completed, but it waits for a node for {names_of(waiting, 'pod')}"
            )
            pods = view.pods.of(key)
            yield Violation("PodGroup", key, message, newest=newest(group, *pods))


def sessions_complete_what_is_done(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield PodGroups that a session completes although one of their pods waits for a node.

    Releases compare the pods that have ended with those that have a node, so pods that wait do not
    count. Source: pkg/scheduler/framework/session.go getPodGroupPhase, jobStatus.
    """
    result = None if view.session is None else view.session.result
    bound = {key for key, _ in result.binds} if result else set()
    for key, decided in sorted(result.pod_groups.items()) if result else ():
        group: PodGroup | None = view.truth.get("PodGroup", key)
        # If it was Completed before, the session does not complete it.
        if group is None or decided.phase not in _ENDED or group.status.phase in _ENDED:
            continue
        waiting = [name for name in _waiting(view, key) if name not in bound]
        if waiting:
            message = f"the session completes it, but no node has {names_of(waiting, 'pod')}"
            yield Violation("PodGroup", key, message)


def _waiting(view: ClusterView, key: str) -> list[str]:
    """Return the pods of a PodGroup that have no node yet."""
    return [pod.key for pod in view.pods.of(key) if is_live(pod) and not has_place(pod)]


def gang_is_whole(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a gang of which only a part has nodes, and that was never complete."""
    group: PodGroup | None = view.truth.get("PodGroup", key)
    if group is None or view.was_complete(group):
        return
    placed, least = view.placed(group), group.spec.min_member
    if 0 < placed < least:
        message = (
            f"{placed} of minMember {least} pods have a node; "
            f"the log shows no moment at which all {least} had one"
        )
        placed_pods = filter(has_place, view.pods.of(key))
        yield Violation("PodGroup", key, message, newest=newest(group, *placed_pods))


def podgroup_lives_on(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a PodGroup that a component of Volcano deleted, although pods need it."""
    gone = view.deleted.get(key)
    if gone is None or not gone.actor.startswith(VOLCANO):
        return
    pods = [pod for pod in view.pods.of(key) if is_live(pod) and _is_ours(view, pod)]
    if pods:
        who = gone.actor.removeprefix(VOLCANO)
        names = ", ".join(sorted(pod.name for pod in pods)[:3])
        more = f" and {len(pods) - 3} more" if len(pods) > 3 else ""
        message = f"{who} deleted it at @{gone.position}, but pods name it: {names}{more}"
        yield Violation("PodGroup", key, message, newest=newest(*pods))


def _pods(count: int) -> str:
    return "1 pod has" if count == 1 else f"{count} pods have"


def _is_ours(view: ClusterView, pod: Pod) -> bool:
    return pod.spec.scheduler_name in view.cache.options.scheduler_names


INVARIANTS = (
    Invariant(
        id="I-01",
        name="job-cache-covers-podgroups",
        severity=Severity.CRITICAL,
        statement=(
            "The scheduler's cache has every PodGroup of the API server under its uid, "
            "and no other."
        ),
        needs=Needs.CACHE,
        unit="PodGroup",
        kinds=(PODGROUP,),
        settles=True,
        check=cache_has_podgroup,
    ),
    Invariant(
        id="I-01b",
        name="unscheduled-pod-known",
        severity=Severity.CRITICAL,
        statement="Every pod of the scheduler that has no node yet is a task in its cache.",
        needs=Needs.CACHE,
        unit="Pod",
        kinds=(POD, PODGROUP),
        settles=True,
        check=cache_has_pod,
    ),
    Invariant(
        id="I-04",
        name="podgroup-reference",
        severity=Severity.HIGH,
        statement="The PodGroup that a live pod names exists.",
        needs=Needs.TRUTH,
        unit="Pod",
        kinds=(POD, PODGROUP),
        settles=True,
        check=podgroup_exists,
    ),
    Invariant(
        id="I-11",
        name="ownership",
        severity=Severity.HIGH,
        statement="A PodGroup and its pods belong to the same object, and that object exists.",
        needs=Needs.TRUTH,
        unit="PodGroup",
        kinds=(POD, PODGROUP),
        settles=True,
        check=owner_is_current,
    ),
    Invariant(
        id="I-11b",
        name="queue-exists",
        severity=Severity.HIGH,
        statement="The queue that a PodGroup names exists.",
        needs=Needs.TRUTH,
        unit="PodGroup",
        kinds=(PODGROUP, QUEUE),
        settles=True,
        check=queue_exists,
    ),
    Invariant(
        id="I-12",
        name="phase-truth",
        severity=Severity.HIGH,
        statement="A Running PodGroup has minMember pods with a node, and a Pending one has not.",
        needs=Needs.TRUTH,
        unit="PodGroup",
        kinds=(POD, PODGROUP),
        settles=True,
        check=phase_is_true,
    ),
    Invariant(
        id="I-12d",
        name="completed-truth",
        severity=Severity.HIGH,
        statement="No pod of a Completed PodGroup waits for a node.",
        needs=Needs.TRUTH,
        unit="PodGroup",
        kinds=(POD, PODGROUP),
        settles=True,
        check=completed_is_true,
    ),
    Invariant(
        id="I-12e",
        name="completed-decided",
        severity=Severity.HIGH,
        statement="No session completes a PodGroup of which a pod waits for a node.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=(NODE, QUEUE, PODGROUP, POD),
        settles=False,
        check=sessions_complete_what_is_done,
    ),
    Invariant(
        id="I-13",
        name="podgroup-lifetime",
        severity=Severity.CRITICAL,
        statement="No component of Volcano deletes a PodGroup that live pods name.",
        needs=Needs.LOG,
        unit="PodGroup",
        kinds=(POD, PODGROUP),
        settles=True,
        check=podgroup_lives_on,
    ),
    Invariant(
        id="I-21",
        name="gang-atomicity",
        severity=Severity.HIGH,
        statement=(
            "Of a gang that was never complete, no pod or at least minMember pods have a node."
        ),
        needs=Needs.TRUTH,
        unit="PodGroup",
        kinds=(POD, PODGROUP),
        settles=True,
        check=gang_is_whole,
        remembers=True,
    ),
)
"""The invariants of this module."""

"""Invariants of Volcano's job controller, as far as its writes show what it knows.

No component prints the job controller's cache. A Job that replaced another of its name and does not
get its pods, or pods of a Job that is gone, show that the cache has another Job under that name.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..events import OwnerName, is_owner
from ..kubernetes.counts import counted
from ..kubernetes.objects import Pod, PodGroup
from ..kubernetes.units import SECOND_US
from .invariant import POD, PODGROUP, Invariant, Needs, Severity, Violation, newest
from .owner_invariants import GROUP, KIND, job_owner
from .view import ClusterView, is_live

JOB = (GROUP, KIND)

_ACTIVE = frozenset({"Pending", "Running"})
"""Phases in which the controller creates the pods that a Job lacks."""

_ADMITTED = frozenset({"Inqueue", "Running"})
"""Phases of a PodGroup for which pods are created."""


def job_gets_pods(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a Job that replaced another of its name, and lacks pods although it is admitted.

    The cleanup of the old Job may remove the new one from the controller's cache (issue #5973 of
    Volcano). Other Jobs may wait for a busy controller.

    Source: pkg/controllers/job/job_controller_actions.go syncJob.
    """
    job = view.owners.jobs.get(key)
    if job is None or job.deleting or job.wants is None or job.phase not in _ACTIVE:
        return
    if not view.owners.replaced(key):
        return
    uid = job.reference.uid
    # In some releases the name of the PodGroup ends with the uid of its Job.
    groups = (view.truth.get("PodGroup", name) for name in (f"{key}-{uid}", key))
    group: PodGroup | None = next(
        (candidate for candidate in groups if candidate is not None), None
    )
    if group is None or group.status.phase not in _ADMITTED:
        return
    have = view.owners.pods_of(uid)
    if have < job.wants:
        message = (
            f"it replaced another Job of its name; its PodGroup is {group.status.phase}, "
            f"but {have} of its {counted(job.wants, 'pod exists', 'pods exist')}"
        )
        at = max(job.revision, newest(group))
        yield Violation("Job", key, message, newest=at)


def job_of_pod_exists(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a live pod whose Job does not exist, or has another uid."""
    pod: Pod | None = view.truth.get("Pod", key)
    owner = None if pod is None or not is_live(pod) else job_owner(pod)
    if pod is None or owner is None:
        return
    name = f"{pod.namespace}/{owner.name}"
    job = view.owners.jobs.get(name)
    named = OwnerName(owner.api_version, owner.kind, owner.name, owner.uid)
    if job is not None and is_owner(job.reference, named):
        return
    now = "" if job is None else f"; the Job of that name has uid {job.reference.uid}"
    message = f"its Job {name} with uid {owner.uid} does not exist{now}"
    yield Violation("Pod", key, message, newest=newest(pod))


INVARIANTS = (
    Invariant(
        id="I-02",
        name="controller-cache-uid",
        severity=Severity.CRITICAL,
        statement="A Job that replaced another one of its name gets its pods within a minute.",
        needs=Needs.TRUTH,
        unit=KIND,
        kinds=(POD, PODGROUP, JOB),
        settles=True,
        check=job_gets_pods,
        patience=60 * SECOND_US,
        remembers=True,
    ),
    Invariant(
        id="I-02d",
        name="pod-of-live-job",
        severity=Severity.CRITICAL,
        statement="The Job that controls a live pod exists, under the uid that the pod names.",
        needs=Needs.TRUTH,
        unit="Pod",
        kinds=(POD, JOB),
        settles=True,
        check=job_of_pod_exists,
    ),
)
"""The invariants of this module."""

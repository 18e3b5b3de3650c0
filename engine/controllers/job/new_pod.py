"""The pods that the job controller makes.

Volumes of jobs, and the plugins that jobs name, play no part here.

Source: pkg/controllers/job/job_controller_util.go createJobPod.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...kubernetes.api_server import Document
from ...volcano.controllers.behaviours import ControllerBehaviours
from . import job_names as names
from .controller_job_cache import namespace_of
from .pod_group import group_name, owner_of

_COPIED = (names.PREEMPTABLE, names.COOLDOWN_TIME, names.REVOCABLE_ZONE)
DEFAULT_TASK = "default"


def pod_name(job: Document, task: Document, index: int) -> str:
    """Return the name of a task's pod."""
    return f"{job['metadata']['name']}-{task.get('name', '')}-{index}"


def new_pod(own: ControllerBehaviours, job: Document, task: Document, index: int) -> Document:
    """Return a pod of a task as it is created."""
    template = task["template"]
    given = template.get("metadata") or {}
    annotations = {**(given.get("annotations") or {}), **dict(_annotations(own, job, task, index))}
    labels = {**(given.get("labels") or {}), **dict(_labels(own, job, task, index))}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name(job, task, index),
            "namespace": namespace_of(job),
            "ownerReferences": owner_of(job),
            "labels": labels,
            "annotations": annotations,
        },
        "spec": _spec(own, job, template["spec"]),
    }


def _spec(own: ControllerBehaviours, job: Document, given: Document) -> Document:
    spec: dict[str, Any] = {**given}
    if not spec.get("schedulerName") and job["spec"].get("schedulerName"):
        spec["schedulerName"] = job["spec"]["schedulerName"]
    inherited = job["spec"].get("priorityClassName")
    if own.pods_inherit_job_priority and inherited and not spec.get("priorityClassName"):
        spec["priorityClassName"] = inherited
    return spec


def _annotations(
    own: ControllerBehaviours, job: Document, task: Document, index: int
) -> Iterator[tuple[str, str]]:
    status = job.get("status", {})
    job_name = job["metadata"]["name"]
    yield names.TASK, task.get("name") or DEFAULT_TASK
    yield names.GROUP_NAME, group_name(job)
    yield names.JOB_NAME, job_name
    yield names.QUEUE_NAME, job["spec"].get("queue", "")
    yield names.JOB_VERSION, str(status.get("version", 0))
    # PodTemplateKey takes the name as it is, without the default of TaskSpecKey.
    yield names.TEMPLATE, f"{job_name}-{task.get('name', '')}"
    if own.pods_have_index_label:
        yield names.TASK_INDEX, str(index)
    if own.pods_have_retry_count:
        yield names.RETRY_COUNT, str(status.get("retryCount", 0))
    if task.get("topologyPolicy"):
        yield names.NUMA_POLICY, task["topologyPolicy"]
    yield from _of_job(job, "annotations", _COPIED)
    # `else if` in createJobPod: of the two budgets a pod gets one, and the minimum wins.
    budget = [*_of_job(job, "annotations", (names.MIN_AVAILABLE, names.MAX_UNAVAILABLE))]
    yield from budget[:1]


def _labels(
    own: ControllerBehaviours, job: Document, task: Document, index: int
) -> Iterator[tuple[str, str]]:
    yield names.JOB_NAME, job["metadata"]["name"]
    yield names.TASK, task.get("name") or DEFAULT_TASK
    yield names.JOB_NAMESPACE, namespace_of(job)
    yield names.QUEUE_NAME, job["spec"].get("queue", "")
    if own.pods_have_index_label:
        yield names.TASK_INDEX, str(index)
    yield from _of_job(job, "labels", _COPIED[:2])
    policy = task.get("partitionPolicy")
    if own.jobs_pass_sub_groups and policy is not None:
        size = policy.get("partitionSize", 0)
        yield names.PARTITION, str(index // size if size > 0 else 0)


def _of_job(job: Document, where: str, wanted: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    given = job["metadata"].get(where) or {}
    return ((name, given[name]) for name in wanted if name in given)

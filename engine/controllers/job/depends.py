"""Tasks that wait for others: whether the pods of a task may be made.

Source: pkg/controllers/job/job_controller_actions.go waitDependsOnTaskMeetCondition,
isDependsOnPodsReady.
"""

from __future__ import annotations

from ...kubernetes.api_server import Document
from .controller_job_cache import key_of, namespace_of, phase_of, task_of
from .held import ControllerListers
from .new_pod import pod_name

ANY = "any"
"""The iteration that needs only one of several tasks."""


def may_start(listers: ControllerListers, job: Document, task: Document) -> bool:
    """Say whether the tasks that a task depends on are ready: all of them, or one if it says so."""
    depends = task.get("dependsOn")
    if depends is None:
        return True
    targets = depends.get("name") or []
    ready = (_is_ready(listers, job, target) for target in targets)
    if len(targets) > 1 and depends.get("iteration") == ANY:
        return any(ready)
    return all(ready)


def _is_ready(listers: ControllerListers, job: Document, name: str) -> bool:
    """Say whether as many pods of a task are ready as it needs; one without a minimum is ready."""
    task = task_of(job, name) or {}
    ready = 0
    for index in range(task.get("replicas", 0)):
        pod = listers.find("Pod", f"{namespace_of(job)}/{pod_name(job, task, index)}")
        if pod is not None:
            ready += _counts(listers, pod)
        elif listers.find("Job", key_of(job)) is None:
            # isDependsOnPodsReady does not wait for a pod of a job that is gone.
            return True
    return ready >= int(task.get("minAvailable", 0))


def _counts(listers: ControllerListers, pod: Document) -> bool:
    phase = phase_of(pod)
    if phase == "Succeeded" and listers.own.succeeded_pods_satisfy_dependencies:
        return True
    containers = pod.get("status", {}).get("containerStatuses") or ()
    # A pod whose containers have no status yet counts as ready: the loop finds nothing against it.
    return phase in {"Running", "Succeeded"} and all(
        container.get("ready") for container in containers
    )

"""The minResources of a job's PodGroup: what the pods that it needs ask for.

Source: pkg/controllers/job/job_controller_actions.go calcPGMinResources;
pkg/controllers/job/job_controller_util.go CalcFirstCountResources, CalcPGMinResources.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...kubernetes.api_server import Document
from ...kubernetes.pod_quota import quota_usage
from ...kubernetes.quantity_lists import Amounts, add, times, written
from .controller_job_cache import minimum_of, tasks_of
from .held import ControllerListers


def min_resources(listers: ControllerListers, job: Document) -> dict[str, str]:
    """Return what the first ``minAvailable`` pods ask for, those of higher priority first.

    Newer releases let each task's minimum count first, if the job needs as many pods as its tasks.

    :raises ValueError: a container asks for what is no quantity.
    """
    most = job["spec"].get("minAvailable", 0)
    # sort.Sort promises no order among equals; here tasks of one priority stay as in the spec.
    tasks = sorted(tasks_of(job), key=lambda task: -_priority(listers, task))
    by_task = listers.own.min_resources_by_task and most >= minimum_of(job)
    sums: Amounts = {}
    for task, number in _by_task(tasks, most) if by_task else _first(tasks, most):
        add(sums, times(quota_usage({"spec": task["template"]["spec"]}), number))
    return written(sums)


def _first(tasks: list[Document], most: int) -> Iterator[tuple[Document, int]]:
    for task in tasks:
        number = min(task.get("replicas", 0), most)
        most -= number
        yield task, number


def _by_task(tasks: list[Document], most: int) -> Iterator[tuple[Document, int]]:
    """Yield tasks with numbers of pods: first their minima, then the rest up to the most."""
    for task in tasks:
        number = min(task.get("minAvailable", 0), most)
        most -= number
        yield task, number
    yield from _first([{**task, "replicas": _rest(task)} for task in tasks], most)


def _rest(task: Document) -> int:
    beyond_minimum: int = task.get("replicas", 0) - task.get("minAvailable", 0)
    return max(beyond_minimum, 0)


def _priority(listers: ControllerListers, task: Document) -> int:
    """Return the value of the priority class that a task's pods name; 0 if they name none."""
    name = task["template"]["spec"].get("priorityClassName", "")
    priority_class = listers.find("PriorityClass", name) if name else None
    return 0 if priority_class is None else priority_class.get("value", 0)

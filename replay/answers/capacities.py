"""What nodes have of what a pod requests when they are empty, and who got it in this session."""

from __future__ import annotations

from collections.abc import Mapping

from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.objects import Pod
from ...engine.model.task import TaskInfo
from ...engine.session.plugins.shared.gauge_amounts import plain
from .answering_session import Run


def task_of(run: Run, pod: Pod | None) -> TaskInfo | None:
    """Return the task of a pod in the scheduler's cache."""
    job = None if pod is None else run.job(job_of(pod))
    return None if pod is None or job is None else job.tasks.get(pod.uid)


def request_of(run: Run, pod: Pod) -> Mapping[str, float]:
    """Return what a pod requests, by resource."""
    task = task_of(run, pod)
    return {} if task is None else plain(task.request)


def given_before(run: Run, pod: str, node: str) -> list[tuple[str, Mapping[str, float]]]:
    """Return the pods to which this session gave a node before it last checked a pod."""
    last = run.last_checks.get(pod, -1)
    given: list[tuple[str, Mapping[str, float]]] = []
    for step, taker in run.takings.get(node, ()):
        has = run.binds.get(taker) or run.pipelined.get(taker)
        # What was taken back, or has another node by now, takes nothing here.
        if step <= last and has == node and taker != pod:
            task = task_of(run, run.pod(taker))
            if task is not None:
                given.append((taker, plain(task.request)))
    return given

"""The pods that a job of Volcano gets once it is enqueued, and the sessions that place them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...engine.cache.cache import SchedulerCache
from ...engine.controllers.job.cache import tasks_of
from ...engine.controllers.job.new_pod import new_pod
from ...engine.errors import EventMalformed, ObjectNotFound
from ...engine.kubernetes.objects import Pod, PodGroup, PriorityClass, decode
from ...engine.volcano.session.history import resolve
from ...engine.volcano.table import controller_behaviours
from ..answers.run import JOB
from ..moments.log import Log
from ..moments.moment import Moment

Document = dict[str, Any]
_FIRST_VERSION = "1"


def made_pods(
    log: Log, moment: Moment, release: str, cache: SchedulerCache, podgroup: str
) -> list[Pod] | None:
    """Return the pods that the job controller makes for a PodGroup; None if that is not known.

    Tasks that depend on others have none yet.

    :param cache: it holds the PodGroup, ``ns/name``, and the priority classes.
    """
    job = _job_of(log, moment, cache, podgroup)
    if job is None:
        return None
    own = controller_behaviours(resolve(release).release)
    made = [
        new_pod(own, job, task, index)
        for task in tasks_of(job)
        if not task.get("dependsOn")
        for index in range(task.get("replicas", 0))
    ]
    try:
        return [decode(Pod, _admitted(one, podgroup, cache)) for one in made]
    except EventMalformed:
        return None


def _job_of(log: Log, moment: Moment, cache: SchedulerCache, podgroup: str) -> Document | None:
    """Return the job of Volcano that a PodGroup belongs to, as the API server held it."""
    group = cache.stores.get("PodGroup", podgroup)
    owner = group.metadata.controller if isinstance(group, PodGroup) else None
    if group is None or owner is None or not owner.api_version.startswith(JOB[0]):
        return None
    try:
        (held,) = log.get(JOB, owner.name, at=moment, namespace=group.namespace)
    except ObjectNotFound:
        return None
    return held


def _admitted(pod: Document, podgroup: str, cache: SchedulerCache) -> Document:
    """Return a pod as the API server stores it: with a uid, and the value of its priority."""
    metadata, spec = pod["metadata"], dict(pod["spec"])
    marks = {"uid": f"{podgroup}/{metadata['name']}", "resourceVersion": _FIRST_VERSION}
    found = _class_of(spec.get("priorityClassName", ""), cache)
    if found is not None:
        spec["priority"] = found.value
    group = podgroup.rpartition("/")[2]
    named = {**metadata["annotations"], "scheduling.k8s.io/group-name": group}
    metadata = {**metadata, **marks, "annotations": named}
    return {**pod, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def _class_of(name: str, cache: SchedulerCache) -> PriorityClass | None:
    """Return the class of a pod: that which it names, else the default of the cluster."""
    return next(_classes(name, cache), None)


def _classes(name: str, cache: SchedulerCache) -> Iterator[PriorityClass]:
    for one in cache.stores.of("PriorityClass").values():
        if isinstance(one, PriorityClass) and (one.name == name if name else one.global_default):
            yield one

"""The pods that a job of Volcano gets once it is enqueued, and the sessions that place them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.cache.cache import SchedulerCache
from ...engine.controllers.job.controller_job_cache import tasks_of
from ...engine.controllers.job.new_pod import new_pod
from ...engine.errors import EventMalformed
from ...engine.kubernetes.api_errors import Forbidden
from ...engine.kubernetes.objects import Pod, PodGroup, PriorityClass, decode
from ...engine.kubernetes.priority_classes import with_priority
from ...engine.kubernetes.resources import GroupKind
from ...engine.model.task import GROUP_NAME
from ...engine.volcano.session.history import resolve
from ...engine.volcano.table import controller_behaviours
from ..answers.answering_session import JOB
from ..coverage.coverage import classes_known
from ..logs.log import Log
from ..moments.moment import Moment

Document = dict[str, Any]
FindObject = Callable[[GroupKind, str, str], Document | None]
_FIRST_VERSION = "1"


def made_pods(
    log: Log,
    moment: Moment,
    release: str,
    cache: SchedulerCache,
    podgroup: str,
    *,
    find: FindObject,
) -> list[Pod] | None:
    """Return the pods that the job controller makes for a PodGroup; None if that is not known.

    Tasks that depend on others have none yet. Those that the API server rejects are left out.

    :param cache: it holds the PodGroup, ``ns/name``, and the priority classes.
    :param find: returns an object by its kind, namespace and name; None if there is none.
    """
    job = _job_of(find, cache, podgroup)
    if job is None:
        return None
    own = controller_behaviours(resolve(release).release)
    documents = [
        new_pod(own, job, task, index)
        for task in tasks_of(job)
        if not task.get("dependsOn")
        # Go writes no 0 here (`omitempty`), so a task without the field has no pods.
        for index in range(task.get("replicas", 0))
    ]
    classes, all_known = _classes(cache), classes_known(log, moment)
    pods = []
    for document in documents:
        try:
            pods.append(_stored(document, podgroup, classes, all_known=all_known))
        except EventMalformed:
            return None
        except Forbidden:
            continue  # Each pod has its own request (`syncJob`), so the others are made.
    return pods


def _job_of(find: FindObject, cache: SchedulerCache, podgroup: str) -> Document | None:
    """Return the job of Volcano that a PodGroup belongs to, as the API server held it."""
    group = cache.stores.get("PodGroup", podgroup)
    owner = group.metadata.controller if isinstance(group, PodGroup) else None
    if group is None or owner is None or not owner.api_version.startswith(JOB[0]):
        return None
    return find(JOB, group.namespace, owner.name)


def _stored(pod: Document, podgroup: str, classes: list[Document], *, all_known: bool) -> Pod:
    """Return a pod as the API server stores it: with a uid, and the value of its priority.

    :raises Forbidden: it does not let the pod in.
    """
    metadata = pod["metadata"]
    marks = {"uid": f"{podgroup}/{metadata['name']}", "resourceVersion": _FIRST_VERSION}
    named = {**metadata["annotations"], GROUP_NAME: podgroup.rpartition("/")[2]}
    stored = {
        **pod,
        "metadata": {**metadata, **marks, "annotations": named},
        "status": {"phase": "Pending"},
    }
    return decode(Pod, with_priority(stored, classes, all_known=all_known))


def _classes(cache: SchedulerCache) -> list[Document]:
    """Return the priority classes as documents."""
    return [
        {
            "metadata": {"name": priority_class.name},
            "value": priority_class.value,
            "globalDefault": priority_class.global_default,
        }
        for priority_class in cache.stores.of("PriorityClass").values()
        if isinstance(priority_class, PriorityClass)
    ]

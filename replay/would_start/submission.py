"""Manifests that are not applied yet, as an API server would store their objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ...engine.errors import InputError, UsageError
from ...engine.ingest.objects.object_defaults import fill_in, fill_in_template
from ...engine.ingest.reading.formats import Context
from ...engine.kubernetes.api_server import Document, ObjectKey, place_of
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind
from ...engine.model.task import GROUP_NAME
from ...engine.volcano.admission import Partitions, partitions_of, task_minimum
from ..answers.answering_session import JOB, POD, PODGROUP
from ..explore.version_writes import clean
from ..forecast.arrivals import CARRIED
from ..lint.manifest_reading import WrittenFiles, check_rendered
from ..lint.objects import Manifest, copied
from ..objects.kind_names import plain_name

_TEMPLATES = (("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet"))
TRIED: tuple[GroupKind, ...] = (JOB, PODGROUP, POD, *_TEMPLATES)
"""The kinds that are asked about: those of Volcano, and those whose controllers run here."""

_NOT_MADE: Mapping[GroupKind, str] = MappingProxyType(
    {
        ("batch", "Job"): "give its pods, each as a Pod",
        ("batch", "CronJob"): "give the pods of one of its jobs, each as a Pod",
        ("batch.volcano.sh", "CronJob"): "give one of its jobs, as a Job of batch.volcano.sh",
        ("apps", "DaemonSet"): "give one of its pods, as a Pod",
        ("", "ReplicationController"): "give its pods, each as a Pod",
        ("flow.volcano.sh", "JobFlow"): "give the jobs of its first step, each as a Job",
        ("flow.volcano.sh", "JobTemplate"): "give a Job with the spec of the template",
    }
)
"""Kinds whose pods nothing makes here, and what to give instead."""

_NO_SCHEDULER = "default-scheduler"
"""The scheduler of a pod that names none."""


class SubmittedObject(NamedTuple):
    """An object as it would be created. :param is_tried: it is asked whether it starts."""

    document: Document
    pair: GroupKind
    is_tried: bool

    @property
    def key(self) -> ObjectKey:
        """Where an API server finds it."""
        return place_of(self.document)

    @property
    def title(self) -> str:
        """How sentences name it, as in ``job ml/train``."""
        return f"{plain_name(*self.pair)} {self.key.key}"

    @property
    def templates(self) -> Sequence[Document]:
        """The specs of its pods: of each task of a job, or of its single template."""
        spec = self.document.get("spec") or {}
        if self.pair == POD:
            return [spec]
        holders = spec.get("tasks") or () if self.pair == JOB else (spec,)
        templates = [holder.get("template") or {} for holder in holders if isinstance(holder, dict)]
        return [each["spec"] for each in templates if isinstance(each.get("spec"), dict)]


class Submission(NamedTuple):
    """What would be applied.

    :param objects: in the order of the files. :param left_out: objects that no component here
        reads, as in ``configmap ml/settings``.
    """

    objects: tuple[SubmittedObject, ...]
    left_out: tuple[str, ...]

    @property
    def tried(self) -> list[SubmittedObject]:
        """The objects that are asked about: a pod that joins a PodGroup here is not by itself."""
        groups = {each.key.key for each in self.objects if each.pair == PODGROUP}
        return [
            each
            for each in self.objects
            if each.is_tried and not (each.pair == POD and _group_of(each) in groups)
        ]


def _group_of(pod: SubmittedObject) -> str:
    annotations = pod.document["metadata"].get("annotations") or {}
    return f"{pod.key.key.partition('/')[0]}/{annotations.get(GROUP_NAME, '')}"


def submission_of(written: WrittenFiles, namespace: str | None) -> Submission:
    """Return the objects of manifests.

    :param namespace: of objects that name none.
    :raises InputError: one cannot be an object of a cluster, or is a template.
    :raises UsageError: there is none whose start can be tried, or one of a kind whose pods nothing
        makes here.
    """
    objects: list[SubmittedObject] = []
    left_out: list[str] = []
    for manifest in written.manifests:
        where = str(manifest.place or "")
        _check_written(manifest, where)
        pair = manifest.group_kind
        document = _created(manifest.document, pair, namespace, len(objects) + 1)
        if pair in _NOT_MADE:
            title = f"{plain_name(*pair)} {document['metadata']['name']}"
            what = f"{title}: no controller here makes the pods of a {_kind_of(pair)}"
            raise UsageError(what, now=_NOT_MADE[pair])
        submitted = SubmittedObject(document, pair, pair in TRIED)
        if pair not in CARRIED:
            left_out.append(submitted.title)
            continue
        if pair in TRIED:
            check_rendered(document, where)
            _check_pod(submitted, where)
        objects.append(submitted)
    if not any(each.is_tried for each in objects):
        kinds = ", ".join(_kind_of(pair) for pair in TRIED)
        there = f"only {', '.join(left_out)}" if left_out else "no such object"
        raise UsageError(f"nothing to try: there is {there}", now=f"give one of: {kinds}")
    _check_once(objects)
    return Submission(tuple(objects), tuple(left_out))


def filled(submission: Submission, release: str, schedulers: Sequence[str]) -> Submission:
    """Return objects with what webhooks of a release and API servers fill in.

    :param schedulers: the names of the scheduler; a job without one gets the first.
    :raises UsageError: a pod is of another scheduler.
    """
    objects = []
    for each in submission.objects:
        document = copied(each.document)
        if each.pair == JOB and isinstance(document.get("spec"), dict):
            _mutate_job(document["spec"], partitions_of(release), schedulers[0])
        fill_in(document, Context(source=""))
        done = each._replace(document=document)
        for spec in done.templates:
            fill_in_template(spec)
        if each.is_tried:
            _check_scheduler(done, schedulers)
        objects.append(done)
    return submission._replace(objects=tuple(objects))


def _check_written(manifest: Manifest, where: str) -> None:
    for line, key in manifest.repeated:
        place = f"{manifest.place.file}:{line}" if manifest.place else ""
        what = f"the key {key[:60]!r} occurs twice in one mapping"
        raise InputError(what, where=place, now="keep one of them")
    metadata = manifest.document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not name:
        kind = manifest.group_kind[1]
        raise InputError(f"a {kind} without a name", where=where, now="set metadata.name")


def _created(given: Mapping[str, Any], pair: GroupKind, namespace: str | None, number: int) -> Any:
    """Return an object as a request to create it: what an API server filled in is left out."""
    document = clean(copied(given), uid=False)
    # Owners are found by their uid, so each object needs one that no other has.
    metadata = {**document["metadata"], "uid": f"try-{number}"}
    if pair not in CLUSTER_SCOPED:
        metadata["namespace"] = metadata.get("namespace") or namespace or "default"
    return {**document, "metadata": metadata}


def _check_pod(submitted: SubmittedObject, where: str) -> None:
    """Refuse what something else than a person creates, or places."""
    if submitted.document["metadata"].get("ownerReferences"):
        what = f"{submitted.title} has an owner, which makes it"
        raise InputError(what, where=where, now="give the owner, or take ownerReferences out")
    if submitted.pair == POD and (submitted.document.get("spec") or {}).get("nodeName"):
        what = f"{submitted.title} names its node, so no scheduler places it"
        raise InputError(what, where=where, now="take spec.nodeName out")


def _check_once(objects: Sequence[SubmittedObject]) -> None:
    seen = set()
    for each in objects:
        if each.key in seen:
            what = f"{each.title} is given twice"
            raise UsageError(what, now="give each object once")
        seen.add(each.key)


def _check_scheduler(submitted: SubmittedObject, schedulers: Sequence[str]) -> None:
    own = (submitted.document.get("spec") or {}).get("schedulerName")
    for spec in submitted.templates:
        # The job controller gives pods that name no scheduler that of their job.
        name = spec.get("schedulerName") or (submitted.pair == JOB and own) or _NO_SCHEDULER
        if name not in schedulers:
            raise UsageError(
                f"{submitted.title} is for the scheduler {name}, and this one is "
                f"{' or '.join(schedulers)}",
                now=f"set schedulerName: {schedulers[0]} in the spec of its pods",
            )


def _mutate_job(spec: dict[str, Any], how: Partitions, scheduler: str) -> None:
    """Fill in what depends on the release. Source: mutate_job.go createPatch."""
    if not spec.get("schedulerName"):
        spec["schedulerName"] = scheduler
    tasks = spec.get("tasks")
    for task in tasks if isinstance(tasks, list) else ():
        if isinstance(task, dict) and task.get("minAvailable") is None:
            policy, replicas = task.get("partitionPolicy"), task.get("replicas") or 0
            parts = tuple(_sizes(policy)) if isinstance(policy, dict) else None
            least, size = parts or (0, 0)
            partitions = None if parts is None else (least, size)
            task["minAvailable"] = task_minimum(None, replicas, partitions, how)


def _sizes(policy: Mapping[str, Any]) -> Iterator[int]:
    for name in ("minPartitions", "partitionSize"):
        value = policy.get(name)
        yield value if isinstance(value, int) else 0


def _kind_of(pair: GroupKind) -> str:
    return f"{pair[1]} ({pair[0]})" if pair[1] in {"Job", "CronJob"} else pair[1]

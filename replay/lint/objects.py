"""Objects of manifests: default values, and Volcano's Job, which no cache has.

Source: volcano.sh/apis/pkg/apis/batch/v1alpha1/job.go; pkg/webhooks/admission/jobs/mutate.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ...engine.kubernetes.objects import (
    HyperNode,
    Node,
    Object,
    Pod,
    PodGroup,
    PodSpec,
    PriorityClass,
    Queue,
)
from ...engine.kubernetes.objects.decoding_faults import value_words
from ...engine.kubernetes.objects.metadata import Int32, ObjectPart
from ...engine.kubernetes.resources import CLUSTER_SCOPED_KINDS
from ...engine.volcano.admission import DEFAULT_QUEUE, partitions_of, task_minimum
from .findings import FilePlace, FindingSubject

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

VOLCANO = "scheduling.volcano.sh"
BATCH, FLOW = "batch.volcano.sh", "flow.volcano.sh"
GROUPS = MappingProxyType(
    {"Job": BATCH, "JobFlow": FLOW, "HyperNode": "topology.volcano.sh", "Pod": "", "Node": ""}
)
"""The groups of kinds, other than :data:`VOLCANO`."""

TEMPLATE = (FLOW, "JobTemplate")
TOPOLOGY = frozenset({(BATCH, "Job"), (VOLCANO, "PodGroup")})
"""Kinds that ask for a network topology."""

ROOT = "root"
MADE = frozenset({DEFAULT_QUEUE, ROOT})
"""The queues that a scheduler creates when it starts."""

_ASKED = ("requests", "limits")


class PodTemplate(ObjectPart, frozen=True, gc=False):
    """The pods of a task."""

    spec: PodSpec = msgspec.field(default_factory=PodSpec)


class PartitionPolicy(ObjectPart, frozen=True, gc=False):
    """How the pods of a task are divided into groups of one size."""

    total_partitions: Int32 = 0
    partition_size: Int32 = 0
    min_partitions: Int32 = 0


class LifecyclePolicy(ObjectPart, frozen=True, gc=False):
    """What is done with a job after an event, or an exit code of a container."""

    event: str = ""
    events: tuple[str, ...] = ()
    action: str = ""
    exit_code: Int32 | None = None


class WaitsFor(ObjectPart, frozen=True, gc=False):
    """The tasks that a task waits for."""

    name: tuple[str, ...] = ()


class VolumeSpec(ObjectPart, frozen=True, gc=False):
    """A volume of all pods of a job."""

    mount_path: str = ""
    volume_claim_name: str = ""
    volume_claim: Any = None


class TaskSpec(ObjectPart, frozen=True, gc=False):
    """One role of a job."""

    name: str = ""
    policies: tuple[LifecyclePolicy, ...] = ()
    depends_on: WaitsFor | None = None
    topology_policy: str = ""
    replicas: Int32 = 0
    min_available: Int32 | None = None
    partition_policy: PartitionPolicy | None = None
    template: PodTemplate = msgspec.field(default_factory=PodTemplate)

    @property
    def defaults(self) -> tuple[int, ...]:
        """The minima that webhooks fill in, of one release or another."""
        policy = self.partition_policy
        if policy is None or policy.min_partitions <= 0:
            return (self.replicas,)
        return self.replicas, policy.min_partitions * policy.partition_size

    def least(self, how: Behaviours) -> int:
        """Return how many of its pods the job needs in a release: all by default."""
        policy = self.partition_policy
        # A minimum that is written counts, whatever the partitions need.
        if policy is None or self.min_available is not None:
            return task_minimum(self.min_available, self.replicas)
        partitions = policy.min_partitions, policy.partition_size
        return task_minimum(None, self.replicas, partitions, partitions_of(how.release))


class JobSpec(ObjectPart, frozen=True, gc=False):
    """The specification of a job."""

    min_available: Int32 = 0
    queue: str = ""
    priority_class_name: str = ""
    tasks: tuple[TaskSpec, ...] = ()
    policies: tuple[LifecyclePolicy, ...] = ()
    plugins: dict[str, tuple[str, ...] | None] = msgspec.field(default_factory=dict)
    volumes: tuple[VolumeSpec, ...] = ()
    max_retry: Int32 = 0
    ttl_seconds_after_finished: Int32 | None = None


class JobState(ObjectPart, frozen=True, gc=False):
    """The state of a job."""

    phase: str = ""


class LintedJobStatus(ObjectPart, frozen=True, gc=False):
    """The status of a job."""

    state: JobState = msgspec.field(default_factory=JobState)


class Job(Object, frozen=True, gc=False):
    """Volcano's Job."""

    spec: JobSpec = msgspec.field(default_factory=JobSpec)
    status: LintedJobStatus = msgspec.field(default_factory=LintedJobStatus)

    @property
    def queue(self) -> str:
        """The queue's name; without one it is the default queue."""
        return self.spec.queue or DEFAULT_QUEUE

    @property
    def is_stored(self) -> bool:
        """Whether an API server has it: then webhooks filled in what it lacked."""
        return bool(self.uid)

    def min_available(self, how: Behaviours) -> int:
        """Return how many pods must run together in a release; by default what tasks need."""
        return self.spec.min_available or sum(task.least(how) for task in self.spec.tasks)


class DependsOn(ObjectPart, frozen=True, gc=False):
    """The flows that a flow waits for."""

    targets: tuple[str, ...] = ()


class OneFlow(ObjectPart, frozen=True, gc=False):
    """One job of a JobFlow, made from the JobTemplate of its name."""

    name: str = ""
    depends_on: DependsOn | None = None


class FlowSpec(ObjectPart, frozen=True, gc=False):
    """The specification of a JobFlow."""

    flows: tuple[OneFlow, ...] = ()
    job_retain_policy: str = ""


class Flow(Object, frozen=True, gc=False):
    """Volcano's JobFlow: jobs that wait for others."""

    spec: FlowSpec = msgspec.field(default_factory=FlowSpec)


TYPES: MappingProxyType[tuple[str, str], type[Object]] = MappingProxyType(
    {
        (VOLCANO, "Queue"): Queue,
        (VOLCANO, "PodGroup"): PodGroup,
        (BATCH, "Job"): Job,
        (FLOW, "JobFlow"): Flow,
        ("topology.volcano.sh", "HyperNode"): HyperNode,
        ("", "Pod"): Pod,
        ("", "Node"): Node,
        ("scheduling.k8s.io", "PriorityClass"): PriorityClass,
    }
)
"""The kinds that rules check, by (group, kind)."""


class RepeatedKey(NamedTuple):
    """A key that a mapping has twice, and the line of its last value."""

    line: int
    name: str


class Manifest(NamedTuple):
    """An object as written, unchecked.

    :param place: None if it is from a log.
    :param repeated: keys that one of its mappings has twice; ``document`` has their last values.
    """

    document: dict[str, Any]
    place: FilePlace | None
    repeated: tuple[RepeatedKey, ...] = ()

    @property
    def group_kind(self) -> tuple[str, str]:
        """The object's group and kind; empty if they are not text."""
        version, kind = self.document.get("apiVersion"), self.document.get("kind")
        group = version.rpartition("/")[0] if isinstance(version, str) else ""
        return group, kind if isinstance(kind, str) else ""

    @property
    def is_named(self) -> bool:
        """Whether it has a name, and not only the begin of one that an API server makes up."""
        metadata = self.document.get("metadata")
        return isinstance(metadata, dict) and bool(metadata.get("name"))

    def subject(self, namespace: str = "default") -> FindingSubject:
        """Return the subject for the object.

        :param namespace: that of objects that name none.
        """
        group, kind = self.group_kind
        metadata = self.document.get("metadata")
        named = metadata if isinstance(metadata, dict) else {}
        name = named.get("name") or named.get("generateName") or ""
        name = name if isinstance(name, str) else value_words(name)
        where = named.get("namespace") or namespace
        prefix = "" if kind in CLUSTER_SCOPED_KINDS else f"{where}/"
        return FindingSubject(group, kind, f"{prefix}{name}" if name else "", self.place)


def jobs_in(manifest: Manifest) -> Manifest:
    """Return the Job of a job template, under the same name; other objects unchanged."""
    group, kind = manifest.group_kind
    spec = _part(manifest.document, "spec")
    if (group, kind) == (BATCH, "CronJob"):
        spec = _part(_part(spec, "jobTemplate"), "spec")
    elif (group, kind) != TEMPLATE:
        return manifest
    document = {
        "apiVersion": f"{BATCH}/v1alpha1",
        "kind": "Job",
        "metadata": _of_a_new_job(manifest.document.get("metadata")),
        "spec": spec,
    }
    return manifest._replace(document=document)


def _of_a_new_job(metadata: Any) -> Any:
    """Return the metadata of a Job to be made from a template, which may be stored itself."""
    if not isinstance(metadata, dict):
        return metadata
    return {name: value for name, value in metadata.items() if name != "uid"}


def copied(value: Any) -> Any:
    """Return a copy of JSON values."""
    if isinstance(value, dict):
        return {name: copied(inner) for name, inner in value.items()}
    return [copied(inner) for inner in value] if isinstance(value, list) else value


def amounts_in(manifest: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (path, amounts by resource) of all resources in an object."""
    kind = manifest.group_kind[1]
    spec = _part(manifest.document, "spec")
    if kind == "Queue":
        yield from _lists(spec, "spec", "capability", "deserved")
        yield from _lists(_part(spec, "guarantee"), "spec.guarantee", "resource")
    elif kind == "PodGroup":
        yield from _lists(spec, "spec", "minResources")
    elif kind == "Node":
        yield from _lists(_part(manifest.document, "status"), "status", "allocatable", "capacity")
    elif kind == "Pod":
        yield from _of_pod(spec, "spec")
    elif kind == "Job":
        for number, task in enumerate(_parts(spec, "tasks")):
            pod = _part(_part(task, "template"), "spec")
            yield from _of_pod(pod, f"spec.tasks[{number}].template.spec")
        for number, volume in enumerate(_parts(spec, "volumes")):
            claim = _part(_part(volume, "volumeClaim"), "resources")
            yield from _lists(claim, f"spec.volumes[{number}].volumeClaim.resources", *_ASKED)


def topologies_in(manifest: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (path, network topology) of a job or PodGroup and of its parts."""
    spec = _part(manifest.document, "spec")
    parts = [("spec", spec)]
    for number, task in enumerate(_parts(spec, "tasks")):
        parts.append((f"spec.tasks[{number}].partitionPolicy", _part(task, "partitionPolicy")))
    for number, policy in enumerate(_parts(spec, "subGroupPolicy")):
        parts.append((f"spec.subGroupPolicy[{number}]", policy))
    for path, part in parts:
        topology = _part(part, "networkTopology")
        if topology:
            yield f"{path}.networkTopology", topology


def _of_pod(spec: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for field in ("containers", "initContainers"):
        for number, container in enumerate(_parts(spec, field)):
            where = f"{path}.{field}[{number}].resources"
            yield from _lists(_part(container, "resources"), where, *_ASKED)
    yield from _lists(_part(spec, "resources"), f"{path}.resources", *_ASKED)
    yield from _lists(spec, path, "overhead")


def _part(holder: Any, field: str) -> dict[str, Any]:
    part = holder.get(field) if isinstance(holder, dict) else None
    return part if isinstance(part, dict) else {}


def _parts(holder: dict[str, Any], field: str) -> list[Any]:
    parts = holder.get(field)
    return parts if isinstance(parts, list) else []


def _lists(holder: dict[str, Any], path: str, *fields: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for field in fields:
        amounts = holder.get(field)
        if isinstance(amounts, dict):
            yield f"{path}.{field}", amounts

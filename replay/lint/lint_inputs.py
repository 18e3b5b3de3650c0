"""The inputs of a check: objects by kind, which kinds are complete, and configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ...engine.events.payloads import AssumedField
from ...engine.ingest.reading.formats import Context
from ...engine.kubernetes.object_store import default_queue
from ...engine.kubernetes.objects import (
    HyperNode,
    Node,
    Object,
    Pod,
    PodGroup,
    PriorityClass,
    Queue,
    decode,
)
from ...engine.model.resource import Resource
from ...engine.volcano.admission import DEFAULT_QUEUE
from ...engine.volcano.conf import SchedulerConf, conf_in_force
from .answer_cache import AnswerCache
from .filled import filled
from .findings import FilePlace, FindingSubject
from .lint_decoding import Stand, TypeFault, decoded
from .lint_fields import OddField, odd_fields
from .object_versions import OddVersion, odd_version
from .objects import (
    BATCH,
    GROUPS,
    MADE,
    TEMPLATE,
    TOPOLOGY,
    TYPES,
    VOLCANO,
    Flow,
    Job,
    Manifest,
    RepeatedKey,
    jobs_in,
    topologies_in,
)

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

O = TypeVar("O", bound=Object)  # noqa: E741 -- the field's letter for an object

ENDLESS = 9_000_000_000_000_000
"""More cores, thousands of bytes, or devices than any cluster has."""

ENDED = frozenset({"Completed", "Failed", "Terminated", "Aborted"})


class Configuration(NamedTuple):
    """A scheduler configuration and its place.

    :param line: the line of the file before the text begins; -1 if not known.
    :param repeated: keys that the values around it have twice, such as those of Helm.
    """

    text: str
    subject: FindingSubject
    line: int = 0
    repeated: tuple[RepeatedKey, ...] = ()

    def place(self, line: int) -> FindingSubject:
        """Return the subject at a line of the text, from 1."""
        place = self.subject.place
        if place is None or self.line < 0:
            return self.subject
        return self.subject._replace(place=FilePlace(place.file, self.line + line, place.document))


class UnreadInput(NamedTuple):
    """A file, or an object in it, that cannot be read. :param now: what to do about it."""

    place: FilePlace
    what: str
    now: str


class GangMembers(NamedTuple):
    """Pods that must run together: those of a Job, or of a PodGroup without one.

    :param subject: the object that describes them. :param ended: they have run.
    """

    subject: FindingSubject
    key: str
    queue: str
    priority_class: str
    ended: bool


class LintInputs:
    """Objects that are checked together.

    The last version of an object counts, so files replace a log's objects. An object of a log that
    a scheduler cannot decode is only in ``faults``; its name is still known. So is an object of a
    file of which more than single values cannot be read.

    :param confs: configurations to check; the last one is in force, unless ``in_force`` is given.
        None at all says nothing about the scheduler.
    :param complete: kinds of which all existing objects are included.
    :param namespace: the namespace of objects that have none.
    :param alone: there are only files, and objects they refer to may be in the cluster.
    :param templates: JobTemplates that exist besides, by ``namespace/name``.
    :param unread: what of the files cannot be read.
    :param stand: what stands for values of files' objects that cannot be read.
    """

    def __init__(
        self,
        manifests: Iterable[Manifest],
        confs: Sequence[Configuration] = (),
        *,
        in_force: Configuration | None = None,
        complete: frozenset[str] = frozenset(),
        namespace: str = "default",
        alone: bool = False,
        templates: Iterable[str] = (),
        unread: Sequence[UnreadInput] = (),
        stand: Stand = Stand.LEAST,
    ) -> None:
        self._again = partial(
            LintInputs,
            manifests := tuple(manifests),
            confs,
            in_force=in_force,
            complete=complete,
            namespace=namespace,
            alone=alone,
            templates=tuple(templates),
            unread=unread,
        )
        self._stand = stand
        self.alone = alone
        self.unread = tuple(unread)
        self.confs = tuple(confs)
        self.in_force = in_force or (confs[-1] if confs else None)
        self.namespace = namespace
        self.manifests: dict[FindingSubject, Manifest] = {}
        self.written: list[Manifest] = []
        """The objects of files as they are written, also those that a later one replaces."""
        known = set(templates)
        self.repeated: list[tuple[FindingSubject, FilePlace]] = []
        for manifest in manifests:
            if manifest.place is not None:
                self.written.append(manifest)
            if manifest.group_kind == TEMPLATE:
                known.add(manifest.subject(namespace).name)
            self._enter(jobs_in(manifest))
        self.templates = frozenset(known)
        self.faults: list[tuple[FindingSubject, TypeFault]] = []
        self.malformed: dict[FindingSubject, tuple[str, ...]] = {}
        """The fields of files' objects that cannot be read, by object."""
        self.subjects: dict[tuple[str, str], FindingSubject] = {}
        self._objects: dict[str, dict[str, Object]] = {kind: {} for _, kind in TYPES}
        self._decode()
        self.complete = complete | {kind for kind, _ in self.subjects}
        self.conf = AnswerCache(self._conf)

    def _enter(self, manifest: Manifest) -> None:
        key = manifest.subject(self.namespace)._replace(place=None)
        if manifest.is_named:
            known = self.manifests.pop(key, None)  # it replaces the last version
            if known is not None and known.place is not None and manifest.place is not None:
                self.repeated.append((key._replace(place=manifest.place), known.place))
        self.manifests[self._distinct(key)] = manifest

    def _distinct(self, key: FindingSubject) -> FindingSubject:
        """Return a key that no other object has: those without a name are not the same one."""
        number, name = 1, key.name
        while key in self.manifests:
            number += 1
            key = key._replace(name=f"{name}#{number}")
        return key

    def _decode(self) -> None:
        context = Context(source="")
        for key, manifest in self.manifests.items():
            subject = key._replace(place=manifest.place)
            type_ = TYPES.get((key.group, key.kind))
            if type_ is None:
                continue
            self.subjects[key.kind, key.name] = subject
            document = filled(manifest, self.namespace, context)
            read = decoded(type_, manifest._replace(document=document), self._stand)
            # A scheduler skips an object of a log that it cannot decode; one of a file can still be
            # corrected.
            if read.item is not None and (manifest.place is not None or not read.unread):
                self._objects[key.kind][key.name] = read.item
            self.faults += [(subject, fault) for fault in read.faults]
            if read.unread and manifest.place is not None:
                self.malformed[subject] = read.unread
        self.assumed: tuple[AssumedField, ...] = context.assumed_fields()
        """What was filled in of objects of files, as an API server does."""

    @cached_property
    def otherwise(self) -> LintInputs | None:
        """The same with large values for those that cannot be read; None if all can be."""
        return self._again(stand=Stand.MOST) if self.malformed else None

    def _of(self, kind: str, made: type[O]) -> Mapping[str, O]:
        objects = self._objects[kind]
        return MappingProxyType(
            {name: item for name, item in objects.items() if isinstance(item, made)}
        )

    @cached_property
    def queues(self) -> Mapping[str, Queue]:
        """The queues by name, with those that the scheduler creates when it starts."""
        given = self._of("Queue", Queue)
        # A malformed queue exists all the same, so the scheduler does not create it.
        created = {name: item for name, item in _created().items() if not self.has("Queue", name)}
        return MappingProxyType({**created, **given})

    @cached_property
    def pod_groups(self) -> Mapping[str, PodGroup]:
        """The PodGroups by ``namespace/name``."""
        return self._of("PodGroup", PodGroup)

    @cached_property
    def jobs(self) -> Mapping[str, Job]:
        """Volcano's Jobs by ``namespace/name``."""
        return self._of("Job", Job)

    @cached_property
    def pods(self) -> Mapping[str, Pod]:
        """The pods by ``namespace/name``."""
        return self._of("Pod", Pod)

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by name."""
        return self._of("Node", Node)

    @cached_property
    def hypernodes(self) -> Mapping[str, HyperNode]:
        """The HyperNodes by name."""
        return self._of("HyperNode", HyperNode)

    @cached_property
    def flows(self) -> Mapping[str, Flow]:
        """The JobFlows by ``namespace/name``."""
        return self._of("JobFlow", Flow)

    @property
    def asks_for_topology(self) -> bool:
        """Whether a job or a PodGroup has a network topology."""
        return any(
            True
            for key, manifest in self.manifests.items()
            if (key.group, key.kind) in TOPOLOGY
            for _ in topologies_in(manifest)
        )

    @cached_property
    def odd_fields(self) -> tuple[tuple[FindingSubject, OddField], ...]:
        """The fields of files' objects that their kinds do not have in all releases."""
        return tuple(
            (manifest.subject(self.namespace), field)
            for manifest in self.written
            for field in odd_fields(manifest)
        )

    @cached_property
    def odd_versions(self) -> tuple[tuple[FindingSubject, OddVersion], ...]:
        """The objects of files whose API version, or kind, does not exist."""
        versions = ((manifest, odd_version(manifest)) for manifest in self.written)
        return tuple(
            (manifest.subject(self.namespace), odd) for manifest, odd in versions if odd is not None
        )

    @property
    def count(self) -> int:
        """How many objects and configurations are checked."""
        odd = {(subject.kind, subject.name) for subject, _ in self.odd_versions}
        return len(self.subjects.keys() | odd) + len(self.confs)

    @cached_property
    def priority_classes(self) -> Mapping[str, PriorityClass]:
        """The priority classes by name."""
        return self._of("PriorityClass", PriorityClass)

    def or_where(self, now: str) -> str:
        """Return advice about an object that is missing or may be elsewhere."""
        return f"{now}; or give the log's point with --at" if self.alone else now

    def has(self, kind: str, name: str) -> bool:
        """Return whether an object with a name exists, even a malformed one."""
        return (kind, name) in self.subjects

    def is_read(self, subject: FindingSubject) -> bool:
        """Return whether an object is checked, perhaps without some of its values."""
        return subject.name in self._objects[subject.kind]

    def subject(self, kind: str, name: str) -> FindingSubject:
        """Return the subject for an object, even one that is in no file."""
        return self.subjects.get((kind, name)) or FindingSubject(
            GROUPS.get(kind, VOLCANO), kind, name
        )

    @cached_property
    def total(self) -> Resource | None:
        """The resources of all nodes, or None if no node is known."""
        if not self.nodes:
            return None
        total = Resource()
        for node in self.nodes.values():
            total.add(Resource.of(node.status.allocatable))
        return total

    @cached_property
    def members(self) -> tuple[GangMembers, ...]:
        """The jobs, and the PodGroups that no included Job created."""
        members = [
            GangMembers(
                self.subject("Job", key),
                key,
                job.queue,
                job.spec.priority_class_name,
                job.status.state.phase in ENDED,
            )
            for key, job in self.jobs.items()
        ]
        members += [
            GangMembers(
                self.subject("PodGroup", key),
                key,
                group.spec.queue or DEFAULT_QUEUE,
                group.spec.priority_class_name,
                group.status.phase in ENDED,
            )
            for key, group in self.pod_groups.items()
            if self.job_of(group) is None
        ]
        return tuple(members)

    def job_of(self, group: PodGroup) -> Job | None:
        """Return the Job that created a PodGroup, if it is included."""
        owner = group.metadata.controller
        if owner is None or owner.kind != "Job" or not owner.api_version.startswith(BATCH):
            return None
        namespace = group.namespace or self.namespace
        return self.jobs.get(f"{namespace}/{owner.name}")

    def _conf(self, how: Behaviours) -> SchedulerConf:
        return conf_in_force(self.in_force.text if self.in_force else "", how)


def _created() -> dict[str, Queue]:
    return {name: decode(Queue, default_queue(name)) for name in sorted(MADE)}

"""The closed vocabulary of event kinds, and the fields of every event.

A kind is a noun and a past participle: ``pod.bound``. Kinds of *object versions* have the whole
Kubernetes object as payload and exist for every noun in :data:`NOUNS`:

========================  ============================================================
``<noun>.observed``       the object was read (a list, the start of a watch)
``<noun>.created``        the object was created with this version
``<noun>.updated``        the object was changed to this version
``<noun>.deleted``        it was deleted; the payload is its last version, or ``{}``
========================  ============================================================

All other kinds have a payload struct in :mod:`.payloads`. Kubernetes kinds without a noun are
``object.*``: events of unknown kinds are stored too.
"""

from __future__ import annotations

from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from . import payloads

if TYPE_CHECKING:
    from collections.abc import Mapping


NO_TIME = -(2**63)
"""In columns of times: the time is unknown."""


class Effect(IntEnum):
    """The effect of an event on truth; part of an event's identity in the log."""

    NONE = 0
    """Nothing: an observation of a component, a mark, a note."""
    VERSION = 1
    """From this revision on, the payload is the object."""
    DELETED = 2
    """The object was deleted."""
    BOUND = 3
    """A pod was bound to a node; the resulting version was not seen."""
    LISTED = 4
    """Of one kind, these objects existed and no others (within the list's scope)."""
    ATTRIBUTED = 5
    """The actor and time of a version that the log has."""
    TOUCHED = 6
    """A write was accepted, and its result was not recorded: the object may differ now."""
    TIMED = 7
    """A time by which a version that the log has existed."""
    COLLECTED = 8
    """A collection was deleted: of one kind, any object that the request selects may be gone."""


UID_FIELD, VERSION_FIELD = "metadata.uid", "metadata.resourceVersion"
"""The fields of the identity of an object, as ``input.assumed`` names them."""

GENERATED = "generated-"
"""How the uid of an object begins that had none in its input."""


def may_come_back(uid: str) -> bool:
    """Return whether an object with a uid can exist again after it was gone.

    A cluster gives each object another uid. One that was generated from the name is that of all
    objects of the name, one after the other, unless their inputs say when they were created.
    """
    return uid.startswith(GENERATED)


class Reference(msgspec.Struct, frozen=True, gc=False, order=True):
    """The object of an event; fields are empty if there is none or they are not known.

    :param group: API group without version; empty for the core group.
    :param kind: Kubernetes kind, as in ``Pod``.
    """

    group: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""

    @property
    def full_name(self) -> str:
        """Namespace and name; of an object without a namespace its name."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A fact that was observed, before it has a place in the log.

    :param kind: a key of :data:`KINDS`.
    :param reference: the object that it is about.
    :param resource_version: as in the source; empty if the source has none.
    :param revision: ``resource_version`` as an integer, or None if it is not a number.
    :param earliest: the source shows that it did not happen before; microseconds since 1970 UTC.
        Of ``list.observed``: when the list was requested; changes that it lacks happened later.
    :param latest: the source shows that it had happened by then. Equal to ``earliest`` if the
        source has the exact time (a log line).
    :param actor: the user who caused it, when known.
    :param source: the input it came from.
    :param line: 1-based line (or document, in inputs without lines) of the source.
    :param payload: canonical JSON, see :func:`.codec.canonical_json`.
    :param schema: version of the payload's shape.
    :param cluster: the cluster that it happened in.
    """

    kind: str
    reference: Reference
    payload: bytes
    resource_version: str = ""
    revision: int | None = None
    earliest: int | None = None
    latest: int | None = None
    actor: str = ""
    source: str = ""
    line: int = 0
    schema: int = 1
    cluster: str = "default"

    @property
    def observed_at(self) -> int | None:
        """One time of the event, where its bounds do not matter."""
        return self.earliest if self.latest is None else self.latest


class Recorded(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An event with its place in the log.

    :param position: 1-based, gap-free, commit-ordered within its branch.
    :param recorded_at: when it was appended, microseconds since 1970 UTC.
    """

    position: int
    branch: str
    recorded_at: int
    event: Event


class KindInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of the vocabulary.

    :param schema: the newest schema number of its payload.
    :param payload: the struct that its payload decodes to; None when it is a Kubernetes object.
    """

    kind: str
    about: str
    effect: Effect
    schema: int = 1
    payload: type[msgspec.Struct] | None = None


NOUNS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("", "Node"): "node",
        ("", "Pod"): "pod",
        ("", "Namespace"): "namespace",
        ("", "ResourceQuota"): "resourcequota",
        ("", "PersistentVolumeClaim"): "persistentvolumeclaim",
        ("", "PersistentVolume"): "persistentvolume",
        ("", "Event"): "event",
        ("events.k8s.io", "Event"): "event",
        ("apps", "ReplicaSet"): "replicaset",
        ("apps", "StatefulSet"): "statefulset",
        ("apps", "Deployment"): "deployment",
        ("policy", "PodDisruptionBudget"): "poddisruptionbudget",
        ("scheduling.k8s.io", "PriorityClass"): "priorityclass",
        ("storage.k8s.io", "StorageClass"): "storageclass",
        ("storage.k8s.io", "CSINode"): "csinode",
        ("scheduling.volcano.sh", "PodGroup"): "podgroup",
        ("scheduling.volcano.sh", "Queue"): "queue",
        ("batch.volcano.sh", "Job"): "job",
        ("topology.volcano.sh", "HyperNode"): "hypernode",
    }
)
"""Kubernetes (group, kind) to the noun of its event kinds; all others are ``object``."""


_VERSION_KINDS = (
    ("observed", Effect.VERSION, "was read"),
    ("created", Effect.VERSION, "came into being"),
    ("updated", Effect.VERSION, "was changed"),
    ("deleted", Effect.DELETED, "went"),
)

_OTHER_KINDS = (
    KindInfo(
        kind="pod.bound",
        about="A pod was bound to a node through its binding subresource.",
        effect=Effect.BOUND,
        payload=payloads.PodBound,
    ),
    KindInfo(
        kind="pod.evicted",
        about="An eviction of a pod was accepted; its deletion follows.",
        effect=Effect.TOUCHED,
        payload=payloads.RequestAccepted,
    ),
    KindInfo(
        kind="request.accepted",
        about="A write was accepted, but the resulting object was not recorded.",
        effect=Effect.TOUCHED,
        payload=payloads.RequestAccepted,
    ),
    KindInfo(
        kind="collection.deleted",
        about="The deletion of a collection was accepted; which objects went was not recorded.",
        effect=Effect.COLLECTED,
        payload=payloads.CollectionDeleted,
    ),
    KindInfo(
        kind="request.refused",
        about="A write was refused (conflict, webhook, quota), or its outcome is not known.",
        effect=Effect.NONE,
        payload=payloads.RequestRefused,
    ),
    KindInfo(
        kind="version.attributed",
        about="The actor and time of an object version that the log has.",
        effect=Effect.ATTRIBUTED,
        payload=payloads.VersionAttributed,
    ),
    KindInfo(
        kind="version.timed",
        about="A time by which an object version that the log has existed.",
        effect=Effect.TIMED,
        payload=payloads.VersionTimed,
    ),
    KindInfo(
        kind="version.contradicted",
        about="An input has another content of a version that the log has.",
        effect=Effect.NONE,
    ),
    KindInfo(
        kind="list.observed",
        about="A complete list of one kind: these objects existed, and no others.",
        effect=Effect.LISTED,
        payload=payloads.ListObserved,
    ),
    KindInfo(
        kind="list.broken",
        about="A list of one kind is not complete: records of it were skipped.",
        effect=Effect.NONE,
        payload=payloads.ListBroken,
    ),
    KindInfo(
        kind="lists.joined",
        about="Several kinds were listed together, in a document without a revision.",
        effect=Effect.NONE,
        payload=payloads.ListsJoined,
    ),
    KindInfo(
        kind="watch.interrupted",
        about="A watch ended with an error; changes until the next list were not seen.",
        effect=Effect.NONE,
        payload=payloads.WatchInterrupted,
    ),
    KindInfo(
        kind="watch.repaired",
        about="What a watch missed was asked for afterwards; not all of it could be had.",
        effect=Effect.NONE,
        payload=payloads.WatchRepaired,
    ),
    KindInfo(
        kind="watch.followed",
        about="A watch followed a kind from one revision to another without a gap.",
        effect=Effect.NONE,
        payload=payloads.WatchFollowed,
    ),
    KindInfo(
        kind="audit.covered",
        about="An audit log recorded writes from one revision to another, at these levels.",
        effect=Effect.NONE,
        payload=payloads.AuditCovered,
    ),
    KindInfo(
        kind="scenario.declared",
        about="A scenario has a cluster's whole history.",
        effect=Effect.NONE,
        payload=payloads.ScenarioDeclared,
    ),
    KindInfo(
        kind="audit.lacked",
        about="A watch showed changes of which the audit log has no record: suspected losses.",
        effect=Effect.NONE,
        payload=payloads.AuditLacked,
    ),
    KindInfo(
        kind="input.redacted",
        about="An input was ingested with --redact: values in it were left out.",
        effect=Effect.NONE,
        payload=payloads.InputRedacted,
    ),
    KindInfo(
        kind="input.assumed",
        about="Objects of an input lacked fields, which were filled in.",
        effect=Effect.NONE,
        payload=payloads.InputAssumed,
    ),
    KindInfo(
        kind="slice.began",
        about="The log is a slice of another one; the state at its beginning follows.",
        effect=Effect.TIMED,
        payload=payloads.SliceBegan,
    ),
    KindInfo(
        kind="slice.ended",
        about="The slice of another log ends here.",
        effect=Effect.TIMED,
        payload=payloads.SliceEnded,
    ),
    KindInfo(
        kind="answer.expected",
        about="What a session of a slice decided when the slice was made.",
        effect=Effect.NONE,
        payload=payloads.AnswerExpected,
    ),
    KindInfo(
        kind="names.redacted",
        about="Names in a slice were replaced; its sessions decide the same.",
        effect=Effect.NONE,
        payload=payloads.NamesRedacted,
    ),
    KindInfo(
        kind="config.applied",
        about="The scheduler's configuration changed to this.",
        effect=Effect.NONE,
        payload=payloads.ConfigApplied,
    ),
    KindInfo(
        kind="cache.dumped",
        about="A component dumped its cache; never mixed into truth.",
        effect=Effect.NONE,
        payload=payloads.CacheDumped,
    ),
    KindInfo(
        kind="process.started",
        about="A component's process started.",
        effect=Effect.NONE,
        payload=payloads.ProcessStarted,
    ),
    KindInfo(
        kind="process.panicked",
        about="A component's process panicked; the stack says where.",
        effect=Effect.NONE,
        payload=payloads.ProcessPanicked,
    ),
    KindInfo(
        kind="session.opened",
        about="A scheduling session began.",
        effect=Effect.NONE,
        payload=payloads.SessionOpened,
    ),
    KindInfo(
        kind="session.closed",
        about="A scheduling session ended.",
        effect=Effect.NONE,
        payload=payloads.SessionClosed,
    ),
    KindInfo(
        kind="session.requested",
        about="A scenario runs a scheduling session here.",
        effect=Effect.NONE,
        payload=payloads.SessionRequested,
    ),
    KindInfo(
        kind="action.entered",
        about="A session's action began.",
        effect=Effect.NONE,
        payload=payloads.ActionMarked,
    ),
    KindInfo(
        kind="action.left",
        about="A session's action ended.",
        effect=Effect.NONE,
        payload=payloads.ActionMarked,
    ),
    KindInfo(
        kind="decision.logged",
        about="A component logged a decision: enqueue, allocate, pipeline, bind, evict.",
        effect=Effect.NONE,
        payload=payloads.DecisionLogged,
    ),
    KindInfo(
        kind="cleanup.retried",
        about="A component tried again to delete a job from its cache or a PodGroup.",
        effect=Effect.NONE,
        payload=payloads.CleanupRetried,
    ),
    KindInfo(
        kind="message.logged",
        about="A component logged a warning or an error without its own event kind.",
        effect=Effect.NONE,
        payload=payloads.MessageLogged,
    ),
    KindInfo(
        kind="control.marked",
        about="A scenario controls the scheduler: restart, or hold, step and run its cleanup.",
        effect=Effect.NONE,
        payload=payloads.ControlMarked,
    ),
    KindInfo(
        kind="usage.measured",
        about="The scheduler's source of metrics reported the usage of a node.",
        effect=Effect.NONE,
        payload=payloads.UsageMeasured,
    ),
    KindInfo(
        kind="extender.answered",
        about="A scheduler extender answered a request, or failed to.",
        effect=Effect.NONE,
        payload=payloads.ExtenderAnswered,
    ),
)


def _vocabulary() -> Mapping[str, KindInfo]:
    kinds = {
        f"{noun}.{verb}": KindInfo(kind=f"{noun}.{verb}", about=f"A {noun} {about}.", effect=effect)
        for noun in sorted({*NOUNS.values(), "object"})
        for verb, effect, about in _VERSION_KINDS
    }
    kinds |= {info.kind: info for info in _OTHER_KINDS}
    return MappingProxyType(kinds)


KINDS: Mapping[str, KindInfo] = _vocabulary()
"""Every kind of event."""


def noun_of(group: str, kind: str) -> str:
    """Return the noun of a Kubernetes kind: ``pod`` for a Pod, ``object`` for an unknown one."""
    return NOUNS.get((group, kind), "object")


def kind_of_version(group: str, kind: str, verb: str) -> str:
    """Return the event kind for a version of an object, as in ``pod.updated``.

    :param verb: ``observed``, ``created``, ``updated`` or ``deleted``.
    """
    return f"{NOUNS.get((group, kind), 'object')}.{verb}"

"""A fast path for watch lines of API servers, which does not decode the whole object.

Parts that seldom change are cached by their bytes (:mod:`..reading.fragments`), and
``managedFields`` are skipped. A line of any other form is left to :mod:`.stream`, which also
reports what is wrong with it.

The lengths show that nothing is lost, as in :mod:`.stream`: the encoded object must be as long as
the line without its wrapper and ``managedFields``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ...errors import EventMalformed
from ...events import Event, Reference, canonical_json
from ...events.kinds import NOUNS
from ...kubernetes.resources import CLUSTER_SCOPED
from ..objects.object_defaults import lacks_a_default
from ..objects.version_events import bound_at, deletion_requested, later, newest_written, stamp_of
from ..reading.formats import Context
from ..reading.fragments import NOTHING, Fragments
from ..reading.json_text import DECODE_FAULTS
from ..reading.sizes import MAX_OBJECT

_WRAPPER = len('{"type":"","object":}')
_MANAGED = len('"managedFields":,')

_DIGITS = 18
"""Digits: more than the revision of any cluster has, and fewer than 2^61 has."""

_PATIENCE = 32
"""After so many unusual lines in a row the fast path is no longer tried in this stream."""

_LEVELS = 6
"""Levels of a status below the first; those of Kubernetes and Volcano have four."""

_TYPES = frozenset({"ADDED", "MODIFIED", "DELETED"})
_FAULTS = (*DECODE_FAULTS, EventMalformed)


def _shallow(levels: int) -> Any:
    """Return the type of JSON values that have so many levels at most."""
    shape: Any = None | bool | int | float | str
    for _ in range(levels):
        shape = None | bool | int | float | str | dict[str, shape] | list[shape]
    return shape


if TYPE_CHECKING:
    _Status = dict[str, Any]
else:  # With this bound it decodes as quickly, and the depth of a status need not be measured.
    _Status = dict[str, _shallow(_LEVELS)]


class _Owner(
    msgspec.Struct, omit_defaults=True, gc=False, rename="camel", forbid_unknown_fields=True
):
    """Source: k8s.io/apimachinery/pkg/apis/meta/v1/types.go OwnerReference."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class _Metadata(
    msgspec.Struct, omit_defaults=True, gc=False, rename="camel", forbid_unknown_fields=True
):
    """Source: k8s.io/apimachinery/pkg/apis/meta/v1/types.go ObjectMeta."""

    name: str
    uid: str
    resource_version: str
    namespace: str = ""
    generate_name: str = ""
    generation: int | None = None
    creation_timestamp: str = ""
    deletion_timestamp: str = ""
    deletion_grace_period_seconds: int | None = None
    labels: msgspec.Raw = NOTHING
    annotations: msgspec.Raw = NOTHING
    owner_references: list[_Owner] = []
    finalizers: list[str] = []
    managed_fields: msgspec.Raw = NOTHING


class _Object(
    msgspec.Struct, omit_defaults=True, gc=False, rename="camel", forbid_unknown_fields=True
):
    kind: str
    api_version: str
    metadata: _Metadata
    spec: msgspec.Raw = NOTHING
    status: _Status | msgspec.UnsetType = msgspec.UNSET


class _Line(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    type: str
    object: _Object


_DECODE = msgspec.json.Decoder(_Line).decode


Place = Callable[[str, Reference, int, int | None, int], tuple[str, int | None]]


class UsualLines:
    """Reads the usual lines of one watch stream.

    :param place: called for each line, in order, with the type of a watch event, its object,
        revision, newest stamp and line; returns the verb of the version, and its latest time.
    """

    def __init__(self, context: Context, place: Place) -> None:
        self._source = context.source
        self._cluster = context.cluster
        self._place = place
        self._fragments = Fragments(lacks=lacks_a_default)
        self._patience = _PATIENCE

    def read(self, text: bytes, line: int) -> Event | None:
        """Return the event of a line; None if the line is not usual."""
        if not self._patience or len(text) > MAX_OBJECT:
            return None
        try:
            watched = _DECODE(text)
            event = self._event(watched.type, watched.object, text, line)
        except _FAULTS:
            event = None
        self._patience = self._patience - 1 if event is None else _PATIENCE
        return event

    def _event(self, change: str, document: _Object, text: bytes, line: int) -> Event | None:
        metadata, version = document.metadata, document.metadata.resource_version
        group = _group(document)
        noun = NOUNS.get((group, document.kind))
        if not (
            noun is not None
            and change in _TYPES
            and metadata.name
            and metadata.uid
            and version.isdecimal()
            and version.isascii()
            and len(version) <= _DIGITS
        ):
            return None
        written, of = metadata.managed_fields, self._fragments.of
        spec, labels, annotations = (
            of(document.spec),
            of(metadata.labels),
            of(metadata.annotations),
        )
        if spec is None or labels is None or annotations is None:
            return None
        if spec.lacking or _is_shortened(document):
            return None
        document.spec, metadata.labels = spec.canonical, labels.canonical
        metadata.annotations = annotations.canonical
        metadata.managed_fields = NOTHING
        payload = canonical_json(document)
        surplus = spec.surplus + labels.surplus + annotations.surplus
        cut = 0 if written is NOTHING else len(written) + _MANAGED
        whole = _WRAPPER + len(change) + len(payload) + surplus + cut
        if whole != len(text) - text.endswith(b"\n"):
            return None
        revision = int(version)
        reference = Reference(group, document.kind, metadata.namespace, metadata.name, metadata.uid)
        stamp = _stamp(document, newest_written(written) if cut else None)
        # The reader takes the version here: after this, the line cannot be left to the slow path.
        verb, latest = self._place(change, reference, revision, stamp, line)
        return Event(
            kind=f"{noun}.{verb}",
            reference=reference,
            payload=payload,
            resource_version=version,
            revision=revision,
            earliest=stamp,
            latest=latest,
            source=self._source,
            line=line,
            cluster=self._cluster,
        )


def _group(document: _Object) -> str:
    return document.api_version.rpartition("/")[0]


def _is_shortened(document: _Object) -> bool:
    """Return whether a field outside of its spec may have to be filled in.

    See :mod:`..objects.object_defaults`.
    """
    kind, status = document.kind, document.status
    if kind == "Pod":
        lacking = status is msgspec.UNSET or not status.get("phase")
        return lacking or not document.metadata.namespace
    if kind == "Node":
        return status is not msgspec.UNSET and not status.get("allocatable")
    if kind == "Queue":
        return b'"weight"' not in bytes(document.spec)
    if kind == "Namespace":
        return b"kubernetes.io/metadata.name" not in bytes(document.metadata.labels)
    if kind == "StorageClass":
        return True  # What may be lacking is neither in its spec nor in its status.
    return not document.metadata.namespace and (_group(document), kind) not in CLUSTER_SCOPED


def _stamp(document: _Object, written_at: int | None) -> int | None:
    """Return the newest stamp, as :func:`.objects.newest_stamp` finds it in a document."""
    metadata, newest = document.metadata, written_at
    if newest is None:
        newest = stamp_of(metadata.creation_timestamp)
    if metadata.deletion_timestamp:
        grace = metadata.deletion_grace_period_seconds or 0
        stamps = {
            "deletionTimestamp": metadata.deletion_timestamp,
            "deletionGracePeriodSeconds": grace,
        }
        newest = later(newest, deletion_requested(stamps))
    if document.kind == "Pod" and document.status is not msgspec.UNSET:
        newest = later(newest, bound_at(document.status))
    return newest

"""Objects in the form of an answer: whole, as rows of a table, or their metadata alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from .....engine.kubernetes.expressions.jsonpath import Allowance
from .....engine.state.clock import TimeSpan
from .....engine.state.truth_fold import Entry
from ..tables.columns import TableColumn, TableObject
from ..tables.table_columns import columns_of
from ..wire.api_resources import ApiResource
from ..wire.list_options import AnswerForm, ObjectShape
from ..wire.shifted_times import NONE, Shift

MOST_SEEN = 2_000_000
"""The values that the paths of custom columns may come by in one part of a table.

A part has at most a thousand objects, so a path may come by some hundred values of each.
"""


class _OnlyMetadata(msgspec.Struct):
    metadata: msgspec.Raw


class _Revision(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _OnlyRevision(msgspec.Struct):
    metadata: _Revision


_METADATA = msgspec.json.Decoder(_OnlyMetadata)
_ENCODER = msgspec.json.Encoder()


class Shaper:
    """Puts the objects of a resource in a form.

    :param now: the moment in microseconds, for ages.
    :param shift: by how much the times of objects are moved; ages are not.
    """

    def __init__(
        self, form: AnswerForm, resource: ApiResource, when: TimeSpan, shift: Shift = NONE
    ) -> None:
        self._form, self._resource, self._when, self._shift = form, resource, when, shift
        self._columns: Sequence[TableColumn] = ()
        self._allowance = Allowance(MOST_SEEN)
        if form.shape is ObjectShape.TABLE:
            self._columns = columns_of(resource)

    def items(self, entries: Sequence[Entry], bodies: Sequence[bytes]) -> list[bytes]:
        """Return objects as items of a list."""
        match self._form.shape:
            case ObjectShape.WHOLE:
                return [self._shift.applied(body) for body in bodies]
            case ObjectShape.METADATA:
                return [self._metadata(body) for body in bodies]
            case ObjectShape.TABLE:
                pairs = zip(entries, bodies, strict=True)
                return [self._row(entry, body) for entry, body in pairs]

    def one(self, entry: Entry, body: bytes, *, columns: bool = True) -> bytes:
        """Return one object as an answer, or as the object of a watch.

        :param columns: whether a table says what its columns are.
        """
        (item,) = self.items([entry], [body])
        if self._form.shape is not ObjectShape.TABLE:
            return item
        revision = msgspec.json.decode(body, type=_OnlyRevision).metadata.resource_version
        return self._table({"resourceVersion": revision}, columns=columns) + item + b"]}"

    def begin(self, metadata: Mapping[str, object]) -> bytes:
        """Return what stands before the items of a list.

        :param metadata: of the list.
        """
        form, resource = self._form, self._resource
        if form.shape is ObjectShape.TABLE:
            return self._table(metadata, columns=True)
        kind, version = resource.list_kind or f"{resource.kind}List", resource.group_version
        if form.shape is ObjectShape.METADATA:
            kind, version = f"{form.shape}List", self._version
        fields = {"kind": kind, "apiVersion": version, "metadata": metadata}
        return _ENCODER.encode(fields)[:-1] + b',"items":['

    def bookmark(self, revision: int, *, ends_initial: bool) -> bytes:
        """Return an object that only says how far a watch is.

        :param ends_initial: whether all objects that existed at the begin were sent.
        """
        metadata: dict[str, object] = {"resourceVersion": str(revision), "creationTimestamp": None}
        if ends_initial:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        resource, shape = self._resource, self._form.shape
        if shape is ObjectShape.WHOLE:
            fields = {"kind": resource.kind, "apiVersion": resource.group_version}
            return _ENCODER.encode({**fields, "metadata": metadata})
        bare = self._partial(_ENCODER.encode(metadata))
        if shape is ObjectShape.METADATA:
            return bare
        cells = _ENCODER.encode([None] * len(self._columns))
        row = b'{"cells":%s,"object":%s}' % (cells, bare)
        return self._table({"resourceVersion": str(revision)}, columns=False) + row + b"]}"

    @property
    def _version(self) -> str:
        return f"meta.k8s.io/{self._form.version}"

    def _table(self, metadata: Mapping[str, object], *, columns: bool) -> bytes:
        """Return a table up to its first row."""
        shown = [column.definition for column in self._columns] if columns else []
        fields = {"kind": "Table", "apiVersion": self._version, "metadata": metadata}
        return _ENCODER.encode({**fields, "columnDefinitions": shown})[:-1] + b',"rows":['

    def _row(self, entry: Entry, body: bytes) -> bytes:
        row = TableObject(entry, body, self._when, self._allowance)
        cells = _ENCODER.encode([column.shown(row) for column in self._columns])
        match self._form.include:
            case "None":
                shown = b"null"
            case "Object":
                shown = self._shift.applied(body)
            case _:
                shown = self._metadata(body)
        return b'{"cells":%s,"object":%s}' % (cells, shown)

    def _metadata(self, body: bytes) -> bytes:
        return self._partial(self._shift.applied(bytes(_METADATA.decode(body).metadata)))

    def _partial(self, metadata: bytes) -> bytes:
        return b'{"kind":"PartialObjectMetadata","apiVersion":"%s","metadata":%s}' % (
            self._version.encode(),
            metadata,
        )

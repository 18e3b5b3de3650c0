"""Objects as YAML: single ones, lists, several documents; read as Kubernetes reads them.

The items of a list are decoded one at a time. In the output of kubectl the kind of the list comes
after them, so items without a kind are kept until it is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import msgspec
import yaml

from ...errors import EventMalformed
from ...events import Event
from ...kubernetes.yaml import YamlFault, YamlReader
from ..reading.formats import Context
from ..reading.json_text import report_cut
from .excerpts import excerpt_in
from .listing import ListMetadata, ListReader, is_list_kind, kind_in, object_events

_FIRST = re.compile(
    rb"(?:[ \t\r\f\v]*(?:(?:#|---|%)[^\n]*)?\n)*(?:---[ \t]+)?(?:- +)?"
    rb"(?:\[\s*)?(?:\{\s*)?(?:apiVersion|kind|metadata|items|spec|status|data|a[a-p][A-Za-z]*)"
    rb"[ \t]*:(?:\s|$)"
)
"""The first key of an object; keys in the order of the alphabet may begin before apiVersion."""

_API_VERSION = re.compile(
    rb"(?m)(?:^[- ]*|[\[{,][ \t]*)apiVersion[ \t]*:[ \t]*(?!audit\.k8s\.io/)\S"
)
_STORED = re.compile(
    rb"(?m)(?:^[- ]*|[\[{,][ \t]*)"
    rb"(?:resourceVersion[ \t]*:|items[ \t]*:|kind[ \t]*:[ \t]*(?:\w*List|Event)\b"
    rb"|status[ \t]*:[ \t]*(?:\{[ \t]*[\w\"]|\r?\n[ \t]+\w))"
)
"""A key of an object or a list that was stored: at the start of a line, or in flow style."""


class ObjectYaml:
    """Objects as ``kubectl get -o yaml`` prints them, alone, in lists, or as several documents."""

    name = "object-yaml"

    def sniff(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the name says nothing here
        """Recognise YAML that begins as a stored object or a list does."""
        return (
            _FIRST.match(head) is not None
            and _API_VERSION.search(head) is not None
            and _STORED.search(head) is not None
            and not excerpt_in(head)
        )

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield versions in the order of the document, and after them what the list says."""
        reader = YamlReader(stream)
        try:
            while not isinstance(event := reader.next(), yaml.StreamEndEvent):
                if isinstance(event, yaml.DocumentStartEvent):
                    yield from _Document(reader, context).events()
        except YamlFault as fault:
            if fault.cut:
                report_cut(f"{fault} (it may be cut off here)", context, fault.line)
            else:
                context.reject(str(fault), line=fault.line)
            context.notes.append(f"nothing was read after the fault on line {fault.line}")


class _Held(NamedTuple):
    """An object of a list that lacks fields which all before it of its kind have.

    If nothing follows it, the text was cut off in it: YAML that is cut may be well-formed.
    """

    item: Any
    number: int
    line: int
    lacking: str


class _Document:
    """One YAML document while it is read."""

    def __init__(self, reader: YamlReader, context: Context) -> None:
        self._reader = reader
        self._context = context
        self._fields: dict[str, Any] = {}
        self._listing: ListReader | None = None
        self._waiting: list[tuple[int, int, dict[str, Any]]] = []
        self._usual: dict[str, set[str]] = {}
        self._held: _Held | None = None

    def events(self) -> Iterator[Event]:
        """Yield the events of the document, reading it to its end."""
        root = self._reader.next()
        line = self._reader.line
        if isinstance(root, yaml.MappingStartEvent):
            while not isinstance(key := self._reader.next(), yaml.MappingEndEvent):
                name = self._reader.key(key)
                value = self._reader.next()
                yield from self._release()
                if name == "items" and isinstance(value, yaml.SequenceStartEvent):
                    yield from self._items(line)
                else:
                    self._fields[name] = self._reader.value(value, 1)
            yield from self._end(line)
        elif isinstance(root, yaml.SequenceStartEvent):
            yield from self._items(line)
        elif not isinstance(root, yaml.ScalarEvent) or root.value:
            self._context.reject("expected an object of Kubernetes", line=line)

    def _items(self, line: int) -> Iterator[Event]:
        self._listing = ListReader(self._context, line)
        number = 0
        while not isinstance(event := self._reader.next(), yaml.SequenceEndEvent):
            at = self._reader.line
            if not self._waiting:
                self._reader.begin_object()
            yield from self._release()
            item = self._reader.value(event)
            lacking = self._lacks(item)
            if lacking:
                self._held = _Held(item, number, at, lacking)
            elif isinstance(item, dict) and "kind" not in item:
                self._waiting.append((number, at, item))
            else:
                yield from self._item(item, number, at)
            number += 1

    def _lacks(self, item: Any) -> str:
        """Return which fields an object lacks that all before it of its kind have; usually none.

        Only if its spec is among them: many an object has no status yet.
        """
        if not isinstance(item, dict) or "kind" not in item:
            return ""
        usual = self._usual.setdefault(str(item["kind"]), set(item))
        lacking = sorted(usual - set(item))
        usual &= set(item)
        return ", ".join(lacking) if "spec" in lacking else ""

    def _release(self) -> Iterator[Event]:
        """Yield the events of an object that was held back: something follows it."""
        if self._held is not None:
            last, self._held = self._held, None
            yield from self._item(last.item, last.number, last.line)

    def _item(self, item: Any, number: int, line: int) -> Iterator[Event]:
        assert self._listing is not None
        if not isinstance(item, dict):
            what = f"expected an object, found {item!r:.40}"
            self._context.reject(what, line=line, path=f"$.items[{number}]")
            self._listing.skip(item)
            return
        try:
            self._listing.complete(item)
            events = object_events(item, self._context, line)
        except EventMalformed as fault:
            path = fault.path_from(f"$.items[{number}]")
            self._context.reject(fault.problem, line=line, path=path)
            self._listing.skip(item)
        else:
            self._listing.add(events[0])
            yield from events

    def _end(self, line: int) -> Iterator[Event]:
        kind = self._fields.get("kind")
        if self._listing is None and not (isinstance(kind, str) and is_list_kind(kind)):
            yield from self._object(line)
            return
        if self._held is not None:
            what = f"the last object lacks {self._held.lacking}, which the others of its kind have"
            report_cut(f"{what} (it may be cut off here)", self._context, self._reader.line)
            return
        if kind is None:
            what = "the list ends without its kind, which kubectl writes after the items"
            report_cut(what, self._context, self._reader.line)
            return
        if not isinstance(kind, str) or not is_list_kind(kind):
            self._context.reject(f"{kind!r:.40} has items, but is not a list", line=line)
            return
        try:
            metadata = msgspec.convert(self._fields.get("metadata") or {}, ListMetadata)
        except msgspec.ValidationError as fault:
            self._context.reject(str(fault), line=line, path="$.metadata")
            return
        listing = self._listing or ListReader(self._context, line)
        listing.describe(kind, str(self._fields.get("apiVersion") or ""), metadata)
        for number, at, item in self._waiting:
            yield from self._item(item, number, at)
        yield from listing.end()

    def _object(self, line: int) -> Iterator[Event]:
        if not self._fields:
            return
        try:
            events = object_events(self._fields, self._context, line)
        except EventMalformed as fault:
            self._context.reject(fault.what, line=line)
            self._context.broken.add(kind_in(self._fields), self._context.last_fault)
        else:
            yield from events


FORMAT = ObjectYaml()

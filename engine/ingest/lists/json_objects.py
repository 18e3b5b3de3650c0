"""Objects as JSON: single ones, lists of any kind, several documents one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from ...errors import EventMalformed
from ...events import Event
from ..objects.version_events import decode_slim
from ..reading.formats import Context
from ..reading.json_text import DECODE_FAULTS, array_items, fault_of, json_documents, repeated_key
from ..reading.sizes import MAX_OBJECT, TOO_LARGE
from .excerpts import EXCERPTS, excerpt_in, excerpt_refused
from .listing import ListMetadata, ListReader, is_list_kind, kind_in, object_events

_FIRST_KEY = re.compile(
    rb'\s*(?:\[\s*)?\{\s*"(?:kind|apiVersion|metadata|items|data|spec|status|type|value'
    rb'|a[a-p][A-Za-z]*)"\s*:'
)
"""The first key of an object; keys in the order of the alphabet may begin before apiVersion."""

_API_VERSION = re.compile(rb'"apiVersion"\s*:\s*"(?!audit\.k8s\.io/)[^"]+"')
_STORED = re.compile(rb'"(?:resourceVersion|items)"|"status"\s*:\s*\{\s*"|"kind"\s*:\s*"Event"')
"""A field of an object or a list that was stored; a manifest has at most an empty status.

No one writes an Event by hand, so one without a resourceVersion was stored too.
"""


class _Header(msgspec.Struct):
    """The fields that distinguish a list from an object; items are decoded one by one."""

    kind: str = ""
    api_version: str = msgspec.field(default="", name="apiVersion")
    metadata: ListMetadata = msgspec.field(default_factory=ListMetadata)
    items: msgspec.Raw = msgspec.Raw()


_HEADER = msgspec.json.Decoder(_Header).decode


class ObjectList:
    """Objects as ``kubectl get -o json`` and the API print them, alone or in lists.

    A complete list gives, besides a version of each object, ``list.observed`` for each kind in it.
    """

    name = "object-list"

    def sniff(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the name says nothing here
        """Recognise JSON that begins as a stored object or a list does."""
        return (
            _FIRST_KEY.match(head) is not None
            and _API_VERSION.search(head) is not None
            and _STORED.search(head) is not None
            and not excerpt_in(head)
        )

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield versions in the order of the document, and after them what the list says."""
        for line, text in json_documents(stream, context):
            if text[:1] == b"[":
                yield from _excerpt(text, context, line)
                continue
            try:
                header = _HEADER(text)
            except DECODE_FAULTS as fault:
                what, path = fault_of(fault)
                context.reject(what, line=line, path=path)
                continue
            if header.kind in EXCERPTS:
                raise excerpt_refused(header.kind, f"{context.source}:{line}")
            if is_list_kind(header.kind):
                listing = ListReader(context, line)
                listing.describe(header.kind, header.api_version, header.metadata)
                try:
                    yield from _items(text, header.items, listing, context, line)
                except msgspec.ValidationError as fault:
                    what, path = fault_of(fault)
                    context.reject(what, line=line, path=path)
                    continue
                yield from listing.end()
            # A list may be larger: each of its items has the limit.
            elif len(text) > MAX_OBJECT:
                context.reject(TOO_LARGE, line=line)
            else:
                yield from _object(bytes(text), context, line, None, "$")


def _excerpt(text: bytes | bytearray, context: Context, line: int) -> Iterator[Event]:
    """Read a bare array of objects, as ``jq .items`` prints it; it may be incomplete."""
    listing = ListReader(context, line)
    yield from _items(text, text, listing, context, line)


def _items(
    text: bytes | bytearray,
    items: bytes | bytearray | msgspec.Raw,
    listing: ListReader,
    context: Context,
    line: int,
) -> Iterator[Event]:
    begin = end = 0
    for number, item in enumerate(array_items(items)):
        # Items come in the order of the text, so the search ends at once.
        place = text.find(item, end)
        line += text.count(b"\n", begin, place)
        begin, end = place, place + len(item)
        yield from _object(item, context, line, listing, f"$.items[{number}]")


def _object(
    text: bytes, context: Context, line: int, listing: ListReader | None, path: str
) -> Iterator[Event]:
    """Yield the version in a text, and add it to its list; reject it if it is wrong."""
    try:
        events = _events_of(text, context, line, listing)
    except DECODE_FAULTS as fault:
        what, inner = fault_of(fault)
        context.reject(what, line=line, path=path + inner.removeprefix("$"))
    except EventMalformed as fault:
        context.reject(fault.problem, line=line, path=fault.path_from(path))
    else:
        if listing is not None:
            listing.add(events[0])
        yield from events
        return
    if listing is not None:
        listing.skip(text)
    else:
        # Lists of the kind in other documents may lack just this object.
        context.broken.add(kind_in(text), context.last_fault)


def _events_of(text: bytes, context: Context, line: int, listing: ListReader | None) -> list[Event]:
    document, written_at, slim = decode_slim(text)
    if not isinstance(document, dict):
        raise EventMalformed(f"expected an object, found {document!r:.40}", path="$")
    if listing is not None:
        listing.complete(document)
    events = object_events(document, context, line, written_at)
    key = repeated_key(slim, events[0].payload, quotes=2 if slim is not text else 0)
    if key is not None:
        raise EventMalformed(f"the key {key[:60]!r} occurs twice in one object", path="$")
    return events


FORMAT = ObjectList()

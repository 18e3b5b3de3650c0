"""Reads lists in the answers of an audit log: the objects, and whether these are all."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...errors import EventMalformed
from ...events import KINDS, Effect, Event
from ..objects.version_events import decode_slim, revision_of
from ..reading.broken import BrokenLists
from ..reading.formats import Context
from ..reading.json_text import array_items
from .audit_records import AuditRecord, ListBody, ListItem
from .audit_request import AuditedRequest
from .build import Builder

ANSWER = "$.responseObject"
"""The path of an answer in its record."""

_ITEM = msgspec.json.Decoder(ListItem)
_NARROWING = frozenset({"labelSelector", "fieldSelector", "continue"})

_REMEMBERED = 100_000
"""Objects whose last version is remembered, so that lists do not give it again."""


class Lists:
    """Reads the lists of one document, and leaves out versions that the document gave before."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._last_version: dict[str, str] = {}

    def remember(self, events: Iterable[Event]) -> None:
        """Note the versions that were given."""
        for event in events:
            if KINDS[event.kind].effect is Effect.VERSION:
                # What is forgotten is only given again: the log does not store a version twice.
                if len(self._last_version) >= _REMEMBERED:
                    self._last_version.clear()
                self._last_version[event.reference.uid] = event.resource_version

    def events(self, request: AuditedRequest, body: ListBody, line: int) -> list[Event]:
        """Return the events of a list: versions that are new, and the list if it is complete.

        :raises EventMalformed: an object is not valid, and malformed records are not skipped.
        """
        build = Builder(request, self._context, line)
        events = list[Event]()
        uids = list[str]()
        complete = not self._context.partial_lists and _is_complete(request.record, body)
        for place, raw in enumerate(array_items(body.items)):
            metadata = _ITEM.decode(raw).metadata
            uids.append(metadata.uid)
            if metadata.uid and self._last_version.get(metadata.uid) == metadata.resource_version:
                continue
            item, written_at, _ = decode_slim(raw)
            # Items of built-in kinds have neither in a list: the list says both for all.
            item.setdefault("kind", body.item_kind)
            item.setdefault("apiVersion", body.api_version)
            try:
                events += build.observed(item, written_at)
            except EventMalformed as fault:
                path = fault.path_from(f"{ANSWER}.items[{place}]")
                # The first fault says why the list is not complete; more would say the same.
                self._context.reject(fault.problem, line=line, path=path)
                if complete:
                    self._leave_broken(body, line)
                complete = False
        return [*events, *build.list_observed(body, uids)] if complete else events

    def _leave_broken(self, body: ListBody, line: int) -> None:
        """Leave why the list is not complete: a record of it was skipped."""
        context, broken = self._context, BrokenLists()
        pair = body.api_version.rpartition("/")[0], body.item_kind
        broken.add(pair, context.last_fault)
        revision = revision_of(body.metadata.resource_version) or 0
        event = broken.event(
            pair, revision, source=context.source, line=line, cluster=context.cluster
        )
        context.spans.append((0, event))


def _is_complete(record: AuditRecord, body: ListBody) -> bool:
    """Say whether a list holds all objects of its kind (and namespace)."""
    # The last page of a list has no ``continue`` itself, but its request has one.
    return not (
        body.metadata.continues
        or body.metadata.remaining_item_count
        or not _NARROWING.isdisjoint(record.query())
    )

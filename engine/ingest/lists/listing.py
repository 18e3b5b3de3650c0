"""What a list says as a whole, whether it was written as JSON or as YAML."""

from __future__ import annotations

from typing import Any

import msgspec

from ...events import Event, Reference
from ...events.payloads import JoinedList, ListsJoined
from ..objects.derived import extra_events
from ..objects.kept import conceal_secret, is_secret
from ..objects.versions import revision_of, version_event
from ..reading.formats import Context
from .complete import EXCERPTS, excerpt_refused, list_event, scope

_GENERIC = "List"


class ListMetadata(msgspec.Struct):
    """The part of a list's metadata that says what it is a list of."""

    resource_version: str | None = msgspec.field(default=None, name="resourceVersion")
    continue_: str | None = msgspec.field(default=None, name="continue")
    remaining: int | None = msgspec.field(default=None, name="remainingItemCount")


def is_list_kind(kind: str) -> bool:
    """Say whether a kind is that of a list: ``List``, ``PodList``."""
    return kind.endswith(_GENERIC)


def object_events(
    document: dict[str, Any], context: Context, line: int, written_at: int | None = None
) -> list[Event]:
    """Make the events of an object that was seen as it is; its version comes first.

    :param written_at: the newest time of its ``managedFields``, if these were left out already.
    :raises EventMalformed: it is no object that was stored in a cluster.
    :raises FormatUnknown: it is an excerpt of one.
    """
    kind = document.get("kind")
    if isinstance(kind, str) and kind in EXCERPTS:
        raise excerpt_refused(kind, f"{context.source}:{line}")
    event = version_event(
        document,
        verb="observed",
        source=context.source,
        line=line,
        cluster=context.cluster,
        written_at=written_at,
        latest=context.received_at(line),
    )
    return [event, *extra_events(document, event)]


class _OfOneKind:
    """The objects of one kind in a list."""

    def __init__(self) -> None:
        self.uids: list[str] = []
        self.namespaces: dict[str, None] = {}
        self.highest = -1


class Listing:
    """A list while its items are read.

    :param line: where the list begins.

    ``incomplete`` is set by the reader when an item could not be read. A list that is never
    described says nothing as a whole.
    """

    def __init__(self, context: Context, line: int) -> None:
        self.incomplete = False
        self._context = context
        self._line = line
        self._kind = self._api_version = ""
        self._metadata = ListMetadata()
        self._kinds: dict[tuple[str, str], _OfOneKind] = {}

    def describe(self, kind: str, api_version: str, metadata: ListMetadata) -> None:
        """Say what the list is of: ``List``, or ``PodList``: items may leave their kind out."""
        self._kind = kind.removesuffix(_GENERIC)
        self._api_version = api_version
        self._metadata = metadata

    def complete(self, document: dict[str, Any]) -> None:
        """Give an item what the API server leaves out in lists of built-in kinds."""
        if self._kind:
            document.setdefault("kind", self._kind)
            document.setdefault("apiVersion", self._api_version)
        if is_secret(self._kind):
            conceal_secret(document)

    def enter(self, event: Event) -> None:
        """Count the version of an item in."""
        reference = event.reference
        entry = self._kinds.setdefault((reference.group, reference.kind), _OfOneKind())
        entry.uids.append(reference.uid)
        entry.namespaces[reference.namespace] = None
        entry.highest = max(entry.highest, event.revision or 0)

    def end(self) -> list[Event]:
        """Return one ``list.observed`` for each kind; none if something may be missing."""
        told = revision_of(self._metadata.resource_version)
        exact = told is not None
        own = (self._api_version.rpartition("/")[0], self._kind)
        if self._metadata.continue_ or self._metadata.remaining:
            if told is not None:
                self._context.pages.append((*own, told))
            self._context.skip("completeness of a list: it is a page of a larger one")
            return []
        if self.incomplete or self._context.partial_lists:
            return []
        if exact and self._kind:
            self._kinds.setdefault(own, _OfOneKind())
        among = {space for entry in self._kinds.values() for space in entry.namespaces}
        events = []
        highest = -1
        for (group, kind), entry in self._kinds.items():
            highest = max(highest, entry.highest)
            namespaces = scope(group, kind, sorted(entry.namespaces), among=sorted(among))
            if namespaces is None:
                self._context.skip("empty list that does not say of which namespaces")
                continue
            events.append(
                list_event(
                    self._context,
                    group=group,
                    kind=kind,
                    namespaces=namespaces,
                    uids=entry.uids,
                    resource_version=str(highest if told is None else told),
                    line=self._line,
                    exact=exact,
                )
            )
        if not exact and len(events) > 1:
            self._join(events)
        return events

    def _join(self, events: list[Event]) -> None:
        """Say what was listed at once: lists of kinds that did not change are known already."""
        kinds = [
            JoinedList(
                group=event.reference.group,
                listed=event.reference.kind,
                namespaces=(event.reference.namespace,) if event.reference.namespace else (),
                revision=event.revision or 0,
            )
            for event in events
        ]
        until = max(kind.revision for kind in kinds)
        joined = ListsJoined(kinds=tuple(kinds), until=until)
        self._context.span(until, Reference(kind="List"), joined, line=self._line)

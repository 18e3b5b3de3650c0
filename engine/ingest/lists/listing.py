"""What a list says as a whole, in JSON, YAML or a watch: which objects existed, and where.

A complete list shows that an object which it lacks does not exist.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

import msgspec
from xxhash import xxh3_64_hexdigest

from ...events import Event, Reference, canonical_json
from ...events.payloads import JoinedList, ListObserved, ListsJoined
from ...kubernetes.resources import CLUSTER_SCOPED, GroupKind
from ..objects.derived_facts import extra_events
from ..objects.identity import first_version, identify
from ..objects.kept_fields import conceal_secret, is_secret
from ..objects.object_defaults import fill_in
from ..objects.version_events import revision_of, version_event
from ..reading.broken import BrokenLists
from ..reading.formats import Context
from ..reading.json_text import DECODE_FAULTS
from .excerpts import EXCERPTS, excerpt_refused

PAGE: Final = "completeness of a list: it is a page of a larger one"
"""The reason for which a page of a list does not count as a complete list."""

_GENERIC = "List"


class ListMetadata(msgspec.Struct):
    """The part of a list's metadata that shows its revision, and whether it is a page."""

    resource_version: str | None = msgspec.field(default=None, name="resourceVersion")
    continue_: str | None = msgspec.field(default=None, name="continue")
    remaining: int | None = msgspec.field(default=None, name="remainingItemCount")


def is_list_kind(kind: str) -> bool:
    """Say whether a kind is that of a list: ``List``, ``PodList``."""
    return kind.endswith(_GENERIC)


def object_events(
    document: dict[str, Any], context: Context, line: int, written_at: int | None = None
) -> list[Event]:
    """Return the events of an object as a list or a dump shows it; its version comes first.

    :param written_at: the newest time of its ``managedFields``, if these were left out already.
    :raises EventMalformed: it is not an object that was stored in a cluster.
    :raises FormatUnknown: it is an excerpt of one.
    """
    kind = document.get("kind")
    if isinstance(kind, str) and kind in EXCERPTS:
        raise excerpt_refused(kind, f"{context.source}:{line}")
    fill_in(document, context)
    unversioned = identify(document, context)
    event = version_event(
        # A version comes before what is derived from it: callers take the first for the list.
        document,
        verb="observed",
        source=context.source,
        line=line,
        cluster=context.cluster,
        written_at=written_at,
        latest=context.received_at(line),
    )
    if unversioned:
        event = first_version(event, context)
    return [event, *extra_events(document, event)]


def scope(
    group: str, kind: str, namespaces: Collection[str], *, among: Iterable[str] = ()
) -> tuple[str, ...] | None:
    """Return the namespaces that a list of a kind covers; empty for all, None if it is unknown.

    A list does not say what was requested. Objects of two namespaces come from a request for all
    namespaces. Objects of one namespace may come from a request for that one, so the list counts
    for that one only.

    :param namespaces: of the objects of this kind, without repetition; ``""`` for objects without
        a namespace.
    :param among: the namespaces of all objects in the same answer, if it has other kinds too.
    """
    if "" in namespaces or (group, kind) in CLUSTER_SCOPED:
        return ()
    if not namespaces:
        return None
    seen = {*namespaces, *among} - {""}
    return tuple(namespaces) if len(seen) == 1 else ()


def list_event(
    context: Context,
    *,
    group: str,
    kind: str,
    namespaces: tuple[str, ...],
    uids: Iterable[str],
    resource_version: str,
    line: int,
    exact: bool,
) -> Event:
    """Make the ``list.observed`` of one kind; ``resource_version`` must be a decimal number.

    :param exact: the revision is that of the list, not the greatest of its items.
    """
    # The scope is part of the reference, so that lists of two namespaces at one revision differ.
    namespace = namespaces[0] if namespaces else ""
    latest = context.received_at(line)
    payload = canonical_json(
        ListObserved(
            group=group,
            listed=kind,
            namespaces=namespaces,
            uids=tuple(sorted(uids)),
            exact=exact,
            answered=None if exact else latest,
        )
    )
    # So is what a list without a revision holds: on a quiet cluster, two of them have one bound.
    uid = "" if exact else xxh3_64_hexdigest(payload)
    return Event(
        kind="list.observed",
        reference=Reference(group, kind, namespace, uid=uid),
        payload=payload,
        resource_version=resource_version,
        revision=int(resource_version),
        earliest=context.taken_at[0] if context.taken_at else None,
        latest=latest,
        source=context.source,
        line=line,
        cluster=context.cluster,
    )


class _OfOneKind:
    """The objects of one kind in a list."""

    def __init__(self) -> None:
        self.uids: list[str] = []
        self.namespaces: dict[str, None] = {}
        self.highest = -1


class ListReader:
    """A list while its items are read.

    :param line: where the list begins.

    The reader calls :meth:`skip` when an item could not be read. A list that is never described
    says nothing as a whole.
    """

    def __init__(self, context: Context, line: int) -> None:
        self._broken = BrokenLists()
        self._context = context
        self._line = line
        self._kind = self._api_version = ""
        self._metadata = ListMetadata()
        self._kinds: dict[tuple[str, str], _OfOneKind] = {}

    def describe(self, kind: str, api_version: str, metadata: ListMetadata) -> None:
        """Take the header of the list; the items of a ``PodList`` may leave out their kind."""
        self._kind = kind.removesuffix(_GENERIC)
        self._api_version = api_version
        self._metadata = metadata

    def complete(self, document: dict[str, Any]) -> None:
        """Add to an item the fields that the API server leaves out in lists of built-in kinds."""
        if self._kind:
            document.setdefault("kind", self._kind)
            document.setdefault("apiVersion", self._api_version)
        if is_secret(self._kind):
            conceal_secret(document)

    def add(self, event: Event) -> None:
        """Add the version of an item."""
        reference = event.reference
        entry = self._kinds.setdefault((reference.group, reference.kind), _OfOneKind())
        entry.uids.append(reference.uid)
        entry.namespaces[reference.namespace] = None
        entry.highest = max(entry.highest, event.revision or 0)

    def skip(self, item: Any) -> None:
        """Note that an item was skipped as malformed: its list is not complete.

        :param item: its JSON, or its values.
        """
        pair = kind_in(item) or self._own or None
        self._broken.add(pair, self._context.last_fault)

    @property
    def _own(self) -> GroupKind | tuple[()]:
        """The kind of the items, if the list has one."""
        return (self._api_version.rpartition("/")[0], self._kind) if self._kind else ()

    def _leave_broken(self, revision: int) -> None:
        """Leave an event for each kind that lacks an item."""
        for pair in sorted({*self._kinds, *self._broken.kinds()}):
            if self._broken.breaks(pair):
                event = self._broken.event(
                    pair,
                    revision,
                    source=self._context.source,
                    line=self._line,
                    cluster=self._context.cluster,
                )
                self._context.spans.append((0, event))

    def end(self) -> list[Event]:
        """Return one ``list.observed`` for each kind that lacks no item."""
        revision = revision_of(self._metadata.resource_version)
        if self._metadata.continue_ or self._metadata.remaining:
            if revision is not None:
                own = self._api_version.rpartition("/")[0], self._kind
                self._context.pages.append((*own, revision))
            self._context.skip(PAGE, line=self._line)
            return []
        if self._context.partial_lists:
            return []
        if self._broken:
            greatest = max((entry.highest for entry in self._kinds.values()), default=0)
            self._leave_broken(greatest if revision is None else revision)
        elif not self._kinds:
            self._context.notes.append(
                f"the list on line {self._context.outer(self._line)} is empty: it has no items"
            )
        # A PodList without items shows that there are no pods; a List without items shows nothing.
        if revision is not None and self._own:
            self._kinds.setdefault(self._own, _OfOneKind())
        events = self._complete_kinds(revision)
        if revision is None and len(events) > 1:
            self._join(events)
        return events

    def _complete_kinds(self, revision: int | None) -> list[Event]:
        """Return one ``list.observed`` for each kind that lacks no item."""
        among = sorted({space for entry in self._kinds.values() for space in entry.namespaces})
        events = list[Event]()
        highest = -1
        for (group, kind), entry in self._kinds.items():
            # kubectl lists one kind after the other, so a list is not older than what came before
            # it.
            highest = max(highest, entry.highest)
            if self._broken.breaks((group, kind)):
                continue
            namespaces = scope(group, kind, sorted(entry.namespaces), among=among)
            if namespaces is None:
                what = "empty list that does not say of which namespaces"
                self._context.skip(what, line=self._line)
                continue
            events.append(
                list_event(
                    self._context,
                    group=group,
                    kind=kind,
                    namespaces=namespaces,
                    uids=entry.uids,
                    resource_version=str(highest if revision is None else revision),
                    line=self._line,
                    exact=revision is not None,
                )
            )
        return events

    def _join(self, events: list[Event]) -> None:
        """Leave an event for the kinds listed together: the log may have some of their lists."""
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
        answered = self._context.received_at(self._line)
        joined = ListsJoined(kinds=tuple(kinds), until=until, answered=answered)
        self._context.span(until, Reference(kind="List"), joined, line=self._line)


class _Named(msgspec.Struct):
    kind: str
    api_version: str = msgspec.field(name="apiVersion")


def kind_in(item: Any) -> GroupKind | None:
    """Return the kind of an object that could not be read; None if it does not say.

    :param item: its JSON, or its values.
    """
    try:
        if isinstance(item, (bytes, bytearray)):
            named = msgspec.json.decode(item, type=_Named)
        else:
            named = msgspec.convert(item, _Named)
    except DECODE_FAULTS:
        return None
    return named.api_version.rpartition("/")[0], named.kind

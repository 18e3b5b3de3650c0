"""From versions of objects to events of the branch."""

from __future__ import annotations

from collections.abc import Container

import msgspec

from .....engine.cache.projector import WATCHED
from .....engine.errors import EventMalformed
from .....engine.events import Event, Reference, canonical_json
from .....engine.events.payloads import PodBound, WatchFollowed
from .....engine.events.storable import fault_of_event
from .....engine.ingest.objects.derived_facts import extra_events
from .....engine.ingest.objects.kept_fields import stored
from .....engine.ingest.objects.version_events import version_event
from .....engine.ingest.reading.sizes import hold_object
from .....engine.kubernetes.objects import decode
from .....engine.kubernetes.resources import GroupKind
from .....engine.state.extract import extract_fact
from .....engine.state.truth_fold import Entry
from ..read.cluster_state import Name
from ..watch.resource_changes import ResourceChange
from ..wire.api_status import invalid
from ..wire.event_groups import event_in_group, one_pair
from .branch_objects import Tables
from .storing import WrittenVersionOf
from .strategic import Document

SOURCE = "plinian serve"


class Batch:
    """What one append brings.

    :param now: the time, in microseconds since 1970. :param actor: who writes.
    :ivar changes: of the objects; their positions are those that the append gives.
    """

    def __init__(self, tables: Tables, now: int, actor: str) -> None:
        self._tables, self._now, self._actor = tables, now, actor
        self._held: dict[tuple[GroupKind, Name], Entry | None] = {}
        self.events: list[Event] = []
        self.changes: list[ResourceChange] = []
        self.documents: list[Document] = []

    def add(self, version: WrittenVersionOf) -> None:
        """Add a version with the next revision.

        :raises StatusError: it is none that a log can store.
        """
        revision = str(self._tables.revision + len(self.changes) + 1)
        metadata = {**version.document["metadata"], "resourceVersion": revision}
        document = {**version.document, "metadata": metadata}
        key = one_pair(_pair(document)), (metadata.get("namespace") or "", metadata["name"])
        # One write may make several versions of an object: then the last of them counts.
        before = self._held[key] if key in self._held else self._tables.find(*key)
        assert (before is None) is (version.verb == "created"), "only what is there changes or goes"
        if before is not None and before.reference.group != _pair(document)[0]:
            # Events are in two groups, and stay in that in which they were created.
            body = event_in_group(msgspec.json.encode(document), before.reference.group)
            document = msgspec.json.decode(body)
        position = self._tables.moment.known + len(self.events) + 1
        events = self._events(document, version.verb)
        change = _change(events[0], version.verb, before, position)
        if version.bound:
            events.append(_binding(events[0], version.bound))
        self._held[key] = change.after
        self.events += events
        self.changes.append(change)
        self.documents.append(document)

    def _events(self, document: Document, verb: str) -> list[Event]:
        """Return the event of a version, and those that follow from it."""
        try:
            event = version_event(
                document,
                verb=verb,
                source=SOURCE,
                line=0,
                cluster=self._tables.moment.cluster,
                earliest=self._now,
                latest=self._now,
                actor=self._actor,
            )
            event = stored(event)
            hold_object(event.payload)
            events = [event, *extra_events(document, event)]
        except EventMalformed as fault:
            raise invalid(fault.what) from fault
        for each_event in events:
            if fault_text := fault_of_event(each_event):
                raise invalid(fault_text)
        return events


def _pair(document: Document) -> GroupKind:
    return document["apiVersion"].rpartition("/")[0], document["kind"]


def _binding(version: Event, node: str) -> Event:
    """Return the event of a binding, as an audit log has it beside the version that it made."""
    return msgspec.structs.replace(
        version,
        kind="pod.bound",
        payload=canonical_json(PodBound(node=node, user_agent=version.actor)),
        resource_version="",
        revision=None,
    )


def _change(event: Event, verb: str, before: Entry | None, position: int) -> ResourceChange:
    reference, revision = event.reference, event.revision
    assert revision is not None, "every version has the revision that it was given"
    pair = reference.group, reference.kind
    try:
        fact = extract_fact(*pair, event.payload)
        if pair in WATCHED:  # Sessions read it.
            decode(WATCHED[pair], msgspec.json.decode(event.payload))
    except (EventMalformed, msgspec.MsgspecError, ValueError) as fault:
        raise invalid(f"a field of the object is wrong: {fault}") from fault
    if verb == "deleted":
        return ResourceChange(revision, before, None, event.payload)
    entry = Entry(reference=reference, position=position, revision=revision, fact=fact)
    return ResourceChange(revision, before, entry, event.payload)


def covered(tables: Tables, since: int, known: Container[GroupKind]) -> list[Event]:
    """Return events that say that the branch has all changes of its kinds from a revision on.

    They are those of a watch that missed nothing.

    :param known: the kinds of which all objects were known at its beginning.
    """
    return [
        Event(
            kind="watch.followed",
            reference=Reference(*pair),
            payload=canonical_json(
                WatchFollowed(
                    group=pair[0],
                    listed=pair[1],
                    since=since,
                    until=tables.revision,
                    begin="marked" if pair in known else "changes",
                )
            ),
            source=SOURCE,
            cluster=tables.moment.cluster,
        )
        for pair in sorted(tables.kinds)
    ]

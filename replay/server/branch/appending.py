"""From versions of objects to events of the branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from ....engine.cache.projector import WATCHED
from ....engine.errors import EventMalformed
from ....engine.events import Event, Reference, canonical_json
from ....engine.events.payloads import WatchFollowed
from ....engine.events.storable import fault_of_event
from ....engine.ingest.objects.derived import extra_events
from ....engine.ingest.objects.kept import stored
from ....engine.ingest.objects.versions import version_event
from ....engine.ingest.reading.sizes import hold_object
from ....engine.kubernetes.objects import decode
from ....engine.kubernetes.resources import GroupKind
from ....engine.state.extract import extract_fact
from ....engine.state.truth import Entry
from ..kubernetes.changes import Name
from ..kubernetes.events import event_in_group
from ..kubernetes.status import invalid
from .storing import Document, Version
from .tables import Altered, Tables, one_pair

SOURCE = "plinian serve"


class Batch(NamedTuple):
    """What one append brings.

    :param changes: of the objects; their positions are those that the append gives.
    """

    events: Sequence[Event]
    changes: Sequence[Altered]
    documents: Sequence[Document]


def batch_of(
    tables: Tables, versions: Sequence[Version], *, now: int, actor: str, source: str = SOURCE
) -> Batch:
    """Return the events of a write, each version with the next revision.

    :param now: the time, in microseconds since 1970. :param actor: who wrote.
    :raises StatusError: a version is none that a log can store.
    """
    events: list[Event] = []
    changes: list[Altered] = []
    documents: list[Document] = []
    held: dict[tuple[GroupKind, Name], Entry | None] = {}
    for version in versions:
        metadata = {
            **version.document["metadata"],
            "resourceVersion": str(tables.revision + len(changes) + 1),
        }
        document = {**version.document, "metadata": metadata}
        before = _before(tables, held, document)
        if before is not None and before.reference.group != _pair(document)[0]:
            # Events are in two groups, and stay in that in which they were created.
            body = event_in_group(msgspec.json.encode(document), before.reference.group)
            document = msgspec.json.decode(body)
        position = tables.moment.known + len(events) + 1
        made = _events(document, version.verb, now, actor, source, tables.moment.cluster)
        events += made
        change = _change(made[0], version.verb, before, position)
        changes.append(change)
        documents.append(document)
        held[one_pair(change.pair), (made[0].reference.namespace, made[0].reference.name)] = (
            change.after
        )
    return Batch(events, changes, documents)


def _pair(document: Document) -> GroupKind:
    return document["apiVersion"].rpartition("/")[0], document["kind"]


def _before(
    tables: Tables, held: dict[tuple[GroupKind, Name], Entry | None], document: Document
) -> Entry | None:
    """Return the object as it was, after earlier versions of the same write."""
    pair, metadata = _pair(document), document["metadata"]
    name = metadata.get("namespace") or "", metadata["name"]
    key = one_pair(pair), name
    return held[key] if key in held else tables.find(pair, name)


def _events(
    document: Document, verb: str, now: int, actor: str, source: str, cluster: str
) -> list[Event]:
    try:
        event = version_event(
            document,
            verb=verb,
            source=source,
            line=0,
            cluster=cluster,
            earliest=now,
            latest=now,
            actor=actor,
        )
        event = stored(event)
        hold_object(event.payload)
        found = [event, *extra_events(document, event)]
    except EventMalformed as fault:
        raise invalid(fault.what) from fault
    for one in found:
        if fault_text := fault_of_event(one):
            raise invalid(fault_text)
    return found


def _change(event: Event, verb: str, before: Entry | None, position: int) -> Altered:
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
        return Altered(pair, revision, before, None, event.payload)
    entry = Entry(reference=reference, position=position, revision=revision, fact=fact)
    return Altered(pair, revision, before, entry, event.payload)


def covered(tables: Tables, since: int) -> list[Event]:
    """Return events that say that the branch has all changes of its kinds from a revision on.

    They are those of a watch: all objects were known at its beginning, and nothing was missed.
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
                    begin="marked",
                )
            ),
            source=SOURCE,
            cluster=tables.moment.cluster,
        )
        for pair in sorted(tables.kinds)
    ]

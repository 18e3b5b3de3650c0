"""What becomes of a resource's objects between two moments of a log.

Versions and deletions come in the order of their revisions. In the end the state of the later
moment decides: it knows bindings and deletions whose versions the log does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from .....engine.events import KINDS, Effect, Recorded
from .....engine.kubernetes.resources import GroupKind
from .....engine.log.store import Query
from .....engine.state.extract import extract_fact
from .....engine.state.truth_fold import Entry
from ....logs.log import Log
from ..read.cluster_state import ClusterState, Name, name_of
from ..wire.api_resources import ApiResource
from ..wire.api_status import expired
from ..wire.event_groups import EVENTS

_PAYLOADS_AT_ONCE = 512

MOST_STEPS = 250_000
"""Events of one resource that are gone through in one go."""


class ResourceChange(NamedTuple):
    """One change of an object.

    :param revision: at which it happened. :param before: None if the object is new.
    :param after: None if it is gone. :param body: the object as JSON; of a deleted one, its last.
    """

    revision: int
    before: Entry | None
    after: Entry | None
    body: bytes

    @property
    def entry(self) -> Entry:
        """The object; of a deleted one, its last version."""
        entry = self.after or self.before
        assert entry is not None, "one of them is there"
        return entry

    @property
    def name(self) -> Name:
        """The object's namespace and name."""
        return name_of(self.entry)

    @property
    def pair(self) -> GroupKind:
        """The object's group and kind."""
        return self.entry.reference.group, self.entry.reference.kind


_Step = tuple[int, Recorded]
"""An event of the log that makes or deletes a version, after its revision."""


def held_at(state: ClusterState, resource: ApiResource) -> dict[Name, Entry]:
    """Return the objects of a resource by name."""
    return {name_of(entry): entry for entry in state.of(resource.pair)}


def changes_between(
    log: Log,
    before: ClusterState,
    after: ClusterState,
    resource: ApiResource,
    held: dict[Name, Entry],
) -> Iterator[ResourceChange]:
    """Yield the changes from one moment to a later one.

    :param held: the objects at the earlier moment; they become those of the later one.
    :raises StatusError: too much happened in between; clients then list again.
    """
    walk = _Walk(after, resource, held)
    steps = _steps(log, before, after, resource)
    for start in range(0, len(steps), _PAYLOADS_AT_ONCE):
        portion = steps[start : start + _PAYLOADS_AT_ONCE]
        positions = [recorded.position for _, recorded in portion]
        payloads = log.store.payloads(positions, after.moment.branch)
        for revision, recorded in portion:
            yield from walk.applied(revision, recorded, payloads[recorded.position])
    yield from walk.reconciled()


def _steps(
    log: Log, before: ClusterState, after: ClusterState, resource: ApiResource
) -> list[_Step]:
    """Return the events between two moments in order of revisions, without their payloads."""
    moment = after.moment
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        objects=EVENTS if resource.pair in EVENTS else (resource.pair,),
        revisions=(before.revision + 1, moment.revision),
    )
    steps: list[_Step] = []
    for recorded in log.store.read(query):
        event = recorded.event
        if event.revision is not None and _effect(recorded) in {Effect.VERSION, Effect.DELETED}:
            bare = msgspec.structs.replace(
                recorded, event=msgspec.structs.replace(event, payload=b"")
            )
            steps.append((event.revision, bare))
            if len(steps) > MOST_STEPS:
                raise expired(f"more than {MOST_STEPS} changes happened since then: list again")
    return sorted(steps, key=lambda step: (step[0], step[1].position))


def _effect(recorded: Recorded) -> Effect:
    return KINDS[recorded.event.kind].effect


class _Walk:
    """The objects of a resource on the way to a later moment."""

    def __init__(self, after: ClusterState, resource: ApiResource, held: dict[Name, Entry]) -> None:
        self._after, self._resource, self._held = after, resource, held

    def applied(
        self, revision: int, recorded: Recorded, payload: bytes
    ) -> Iterator[ResourceChange]:
        """Yield what one event changes."""
        reference = recorded.event.reference
        name = reference.namespace, reference.name
        old = self._held.get(name)
        is_other = old is not None and reference.uid not in {"", old.reference.uid}
        if _effect(recorded) is Effect.DELETED:
            if old is not None and not is_other and old.revision <= revision:
                yield self._gone(old, revision, payload)
            return
        if old is not None and old.revision >= revision:
            return
        if old is not None and is_other:  # Its deletion was not recorded.
            # Just before the version of the new object, so that watches see both in order.
            yield self._gone(old, revision - 1)
            old = None
        entry = Entry(
            reference=reference,
            position=recorded.position,
            revision=revision,
            fact=extract_fact(reference.group, reference.kind, payload),
        )
        self._held[name] = entry
        body = self._after.shown(entry, payload, self._resource)
        yield ResourceChange(revision, old, entry, body)

    def reconciled(self) -> Iterator[ResourceChange]:
        """Yield what is otherwise at the later moment than its versions and deletions say."""
        after, held = self._after, self._held
        now = held_at(after, self._resource)
        for name in sorted(held.keys() - now.keys()):
            yield self._gone(held[name], after.revision)
        for name, entry in now.items():
            old = held.get(name)
            held[name] = entry
            if old is None or _version(old) != _version(entry):
                (body,) = after.bodies([entry], self._resource)
                yield ResourceChange(after.revision, old, entry, body)

    def _gone(self, old: Entry, revision: int, payload: bytes = b"") -> ResourceChange:
        """Return the deletion of an object: its last state, with the revision of the deletion."""
        del self._held[name_of(old)]
        # Not every deletion brings the object. Then its last version is shown.
        if b'"metadata":' in payload:
            body = self._after.shown(old, payload, self._resource)
        else:
            (body,) = self._after.bodies([old], self._resource)
        return ResourceChange(revision, old, None, at_revision(body, revision))


def at_revision(body: bytes, revision: int) -> bytes:
    """Return an object with another resourceVersion."""
    document: Mapping[str, object] = msgspec.json.decode(body)
    metadata = document.get("metadata")
    assert isinstance(metadata, dict), "every stored object has metadata"
    return msgspec.json.encode(
        {**document, "metadata": {**metadata, "resourceVersion": str(revision)}}
    )


def _version(entry: Entry) -> tuple[str, int, str]:
    return entry.reference.uid, entry.revision, entry.node_bound

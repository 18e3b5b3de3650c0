"""Versions without a resourceVersion: of one object there can be only one in a log.

Objects of one name whose uids were generated count as one: two would have no order, either. Which
of two different ones is newer is not known, so the second is refused. Else the order in which
inputs arrive would decide.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from xxhash import xxh3_128_digest

from ...engine.errors import EventMalformed
from ...engine.events import GENERATED, KINDS, Effect, Event, Reference, may_come_back
from ...engine.ingest.objects.identity import FIRST_REVISION
from ...engine.log.store import LogStore, Query


class _Seen(NamedTuple):
    """A version. :param content: a hash of its payload."""

    reference: Reference
    content: bytes
    where: str


class UnversionedObjects:
    """The versions without a resourceVersion of one call."""

    def __init__(self) -> None:
        self._seen: dict[Reference, _Seen] = {}

    def add(self, event: Event) -> None:
        """Take a version.

        :raises EventMalformed: another one of the same object differs from it.
        """
        seen = _seen(event)
        before = self._seen.setdefault(_of(event.reference), seen)
        if before.content != seen.content:
            raise _contradiction(seen, before.where)

    def check(self, store: LogStore, *, branch: str, cluster: str) -> None:
        """Compare all with those that a log has.

        :raises EventMalformed: one differs.
        """
        if not self._seen:
            return
        first = (FIRST_REVISION, FIRST_REVISION)
        for recorded in store.read(Query(branch=branch, cluster=cluster, revisions=first)):
            event = recorded.event
            seen = self._seen.get(_of(event.reference))
            if seen is None or KINDS[event.kind].effect is not Effect.VERSION:
                continue
            before = _seen(event)
            if before.content != seen.content:
                raise _contradiction(seen, f"{before.where}, which is in the log")


def _of(reference: Reference) -> Reference:
    """Return what stands for an object: all of one name whose uids were generated are the same."""
    uid = GENERATED if may_come_back(reference.uid) else reference.uid
    return msgspec.structs.replace(reference, uid=uid)


def _seen(event: Event) -> _Seen:
    content = xxh3_128_digest(event.payload)
    return _Seen(event.reference, content, f"{event.source}:{event.line}")


def _contradiction(seen: _Seen, before: str) -> EventMalformed:
    reference = seen.reference
    named = reference.full_name
    return EventMalformed(
        f"{reference.kind} {named} has no resourceVersion, and differs from the one at {before}, "
        "which has none either: which of them is newer is not known",
        where=seen.where,
        now="fetch them with their resourceVersion (kubectl get ... -o json, without kubectl neat),"
        " or ingest them into another log (--log)",
    )

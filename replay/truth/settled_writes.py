"""Writes with an unknown result: which are settled by what the log shows, and which delete."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from ...engine.events import Recorded
from ...engine.events.payloads import ListObserved
from ...engine.log.store import LogStore, Query
from ...engine.state.fold import FoldRecord
from ...engine.state.log_coverage import LogCoverage
from ..moments.later_lists import later_lists
from ..moments.moment import Moment
from ..moments.read_coverage import read_coverage

_DELETING = frozenset({"collection.deleted", "pod.evicted"})
_ACCEPTED, _VERB = "request.accepted", "delete"

MAY_DELETE = (_ACCEPTED, *sorted(_DELETING))
"""The kinds of events of which :func:`deletes` may be true."""


class _Request(msgspec.Struct):
    verb: str = ""


_DECODE = msgspec.json.Decoder(_Request).decode


def settled(
    store: LogStore, moment: Moment, records: Collection[FoldRecord]
) -> Collection[FoldRecord]:
    """Return records without the marks of writes whose result the log shows.

    If it holds all versions of a kind, a write made one of these, or none. If a list that was
    asked for later has the object in this version, the write did not change it.
    """
    stale = [record for record in records if record.stale]
    if not stale:
        return records
    asked = _Asked(store, moment, stale)
    return [asked.settled(record) if record.stale else record for record in records]


class _Asked:
    """What the log says about some stale objects at a moment."""

    def __init__(self, store: LogStore, moment: Moment, stale: Sequence[FoldRecord]) -> None:
        self._coverage: LogCoverage = read_coverage(
            store, branch=moment.branch, cluster=moment.cluster, known=moment.known
        )
        positions = tuple(sorted({at for record in stale for at in record.touches}))
        query = Query(branch=moment.branch, positions=positions)
        read = store.read(query) if positions else ()
        self._writes = {event.position: event for event in read}
        self._deletes = {at for at, write in self._writes.items() if deletes(write)}
        self._listed = _listed_at(store, moment)

    def settled(self, record: FoldRecord) -> FoldRecord:
        """Return an object with the writes that may have changed it."""
        reference = record.reference
        pair = (reference.group, reference.kind)
        following = (record.touched + 1) // 2  # The key is that of just before a revision.
        if self._coverage.has_changes(pair, following, reference.namespace or None):
            return msgspec.structs.replace(record, touched=-1, touches=())
        if not record.touches:  # A checkpoint of an earlier version does not name the writes.
            return record
        listed = self._listed.get(reference.uid)
        open_ = tuple(at for at in record.touches if not self._was_before(at, listed))
        if not open_:
            return msgspec.structs.replace(record, touched=-1, touches=())
        ending = max((at for at in open_ if at in self._deletes), default=0)
        return msgspec.structs.replace(record, touches=open_, ending=ending)

    def _was_before(self, position: int, time: int | None) -> bool:
        write = self._writes.get(position)
        answered = None if write is None else write.event.latest
        return answered is not None and time is not None and answered < time


def deletes(recorded: Recorded) -> bool:
    """Return whether an event is an accepted request to delete its object."""
    event = recorded.event
    if event.kind in _DELETING:
        return True
    return event.kind == _ACCEPTED and _DECODE(event.payload).verb == _VERB


def _listed_at(store: LogStore, moment: Moment) -> Mapping[str, int]:
    """Return when the last list with each object was asked for, by uid."""
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        kinds=("list.observed",),
        about_kinds=True,
    )
    later = {later_list.position for later_list in later_lists(store, moment)}
    asked_for: dict[str, int] = {}
    for recorded in store.read(query):
        event = recorded.event
        beyond = moment.revision is not None and (event.revision or 0) > moment.revision
        # Only a list that was certainly asked for after a write can say what became of it.
        if event.earliest is None or recorded.position in later or beyond:
            continue
        for uid in msgspec.json.decode(event.payload, type=ListObserved).uids:
            asked_for[uid] = max(asked_for.get(uid, event.earliest), event.earliest)
    return asked_for

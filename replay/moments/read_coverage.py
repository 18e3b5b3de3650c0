"""What a log knows completely, read from its events about lists, watches and audit logs.

One pass over these events serves all that asks for them; the results of the last few are kept.
What the events up to some position said is stored beside a log, so that only later ones are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from ...engine.events import NO_TIME
from ...engine.events.payloads import ListObserved
from ...engine.log.store import NO_REVISION, Checkpoint, FoldWindow, LogStore, Query
from ...engine.state.clock import span_of_read
from ...engine.state.coverage_events import CoverageFold, Covering
from ...engine.state.log_coverage import COVERING, LogCoverage
from ...engine.state.log_end import vouched_by
from .store_key import StoreKey

_ANSWERED = b'"answered":'


class DatedList(msgspec.Struct, frozen=True):
    """A list without its own revision, which says when it was made.

    :param revision: a lower bound. :param answered: when it was made at the earliest.
    :param scope: group and name of the kind, and the namespaces.
    """

    position: int
    revision: int
    answered: int
    scope: tuple[str, str, tuple[str, ...]]


class _Told(msgspec.Struct):
    """What all events about coverage said by a position.

    :param dated: the lists with a time and no revision, by position.
    :param vouched: until when inputs go on, microseconds; ``NO_TIME`` if none says it.
    """

    known: int = 0
    covering: Covering = msgspec.field(default_factory=Covering)
    dated: list[DatedList] = []
    vouched: int = NO_TIME


_VERSION = 2**28
"""Of what is stored; no version of a state or of a cache is the same."""

_WORTH_STORING = 500
"""So many events take some hundredths of a second to read."""

_ENCODE = msgspec.msgpack.Encoder().encode
_DECODE = msgspec.msgpack.Decoder(_Told).decode


def read_coverage(
    store: LogStore, *, branch: str, cluster: str, known: int | None = None
) -> LogCoverage:
    """Return what a log knows completely.

    :param known: considering only what had been appended by this position.
    """
    until = store.last(branch) if known is None else known
    return _read(StoreKey(store), branch, cluster, until)[1]


def dated_lists(store: LogStore, *, branch: str, cluster: str, known: int) -> Sequence[DatedList]:
    """Return the lists of a log that have a time and no revision, by position."""
    return _read(StoreKey(store), branch, cluster, known)[0].dated


def vouched_until(store: LogStore, *, branch: str, cluster: str, known: int) -> int:
    """Return until when watches and audit logs go on by their own word, microseconds.

    ``NO_TIME`` if none says it.
    """
    return _read(StoreKey(store), branch, cluster, known)[0].vouched


def store_coverage(store: LogStore, *, branch: str, cluster: str) -> None:
    """Store what the events about coverage said, if those after what is stored are many.

    It only saves time. A recorder leaves such an event for each busy watch every few seconds.
    """
    last = store.last(branch)
    told = _stored(store, branch, cluster, last)
    if _take(told, store, branch, cluster, last) < _WORTH_STORING:
        return
    place = Checkpoint(
        branch=branch,
        cluster=cluster,
        revision=NO_REVISION,
        known=last,
        version=_VERSION,
        data=_ENCODE(told),
    )
    store.put_checkpoint(place)


@lru_cache(maxsize=4)
def _read(opened: StoreKey, branch: str, cluster: str, known: int) -> tuple[_Told, LogCoverage]:
    told = _stored(opened.store, branch, cluster, known)
    _take(told, opened.store, branch, cluster, known)
    return told, told.covering.coverage()


def _stored(store: LogStore, branch: str, cluster: str, known: int) -> _Told:
    """Return what is stored of the events up to a position; nothing if that is later or damaged."""
    window = FoldWindow(
        branch=branch, cluster=cluster, known=known, after=NO_REVISION, until=NO_REVISION
    )
    checkpoint = store.nearest_checkpoint(window, _VERSION)
    try:
        return _Told() if checkpoint is None else _DECODE(checkpoint.data)
    except msgspec.DecodeError:
        return _Told()


def _take(told: _Told, store: LogStore, branch: str, cluster: str, known: int) -> int:
    """Take the events that follow, up to a position, and return how many these are."""
    query = Query(
        branch=branch,
        cluster=cluster,
        after=told.known,
        until=known,
        kinds=COVERING,
        about_kinds=True,
    )
    fold, taken = CoverageFold(told.covering), 0
    for recorded in store.read(query):
        taken += 1
        event = recorded.event
        if event.kind == "list.observed" and event.revision is not None:
            told.dated += _dated(recorded.position, event.revision, event.payload)
        told.vouched = max(told.vouched, vouched_by(recorded))
        fold.take(event)
    told.known = known
    return taken


def _dated(position: int, revision: int, payload: bytes) -> Iterator[DatedList]:
    if _ANSWERED not in payload:  # Most lists have none, and decoding takes longer than looking.
        return
    listing = msgspec.json.decode(payload, type=ListObserved)
    if listing.answered is not None:
        scope = (listing.group, listing.listed, listing.namespaces)
        counts_from = span_of_read(listing.answered).earliest or listing.answered
        yield DatedList(position, revision, counts_from, scope)

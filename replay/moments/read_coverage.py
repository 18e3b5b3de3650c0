"""What a log knows completely, read from its events about lists, watches and audit logs.

One pass over these events serves all that asks for them; the results of the last few are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from ...engine.events import Event, Recorded
from ...engine.events.payloads import ListObserved
from ...engine.log.store import LogStore, Query
from ...engine.state.coverage_events import coverage_of
from ...engine.state.log_coverage import COVERING, LogCoverage
from .log_clock import StoreKey, span_of_read

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


def read_coverage(
    store: LogStore, *, branch: str, cluster: str, known: int | None = None
) -> LogCoverage:
    """Return what a log knows completely.

    :param known: considering only what had been appended by this position.
    """
    until = store.last(branch) if known is None else known
    return _read(StoreKey(store), branch, cluster, until)[0]


def dated_lists(store: LogStore, *, branch: str, cluster: str, known: int) -> Sequence[DatedList]:
    """Return the lists of a log that have a time and no revision, by position."""
    return _read(StoreKey(store), branch, cluster, known)[1]


@lru_cache(maxsize=4)
def _read(
    opened: StoreKey, branch: str, cluster: str, known: int
) -> tuple[LogCoverage, Sequence[DatedList]]:
    query = Query(branch=branch, cluster=cluster, until=known, kinds=COVERING, about_kinds=True)
    dated: list[DatedList] = []
    coverage = coverage_of(_noting(dated, opened.store.read(query)))
    return coverage, dated


def _noting(dated: list[DatedList], events: Iterable[Recorded]) -> Iterator[Event]:
    """Yield events, and note the lists among them that have a time and no revision."""
    for recorded in events:
        event = recorded.event
        if event.kind == "list.observed" and event.revision is not None:
            dated += _dated(recorded.position, event.revision, event.payload)
        yield event


def _dated(position: int, revision: int, payload: bytes) -> Iterator[DatedList]:
    if _ANSWERED not in payload:  # Most lists have none, and decoding takes longer than looking.
        return
    listing = msgspec.json.decode(payload, type=ListObserved)
    if listing.answered is not None:
        scope = (listing.group, listing.listed, listing.namespaces)
        counts_from = span_of_read(listing.answered).earliest or listing.answered
        yield DatedList(position, revision, counts_from, scope)

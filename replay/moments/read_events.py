"""Reading events by their kinds: those that all that is known at a moment gives to versions.

A log keeps the kind under which a version was first seen. If a list had it first, that is
``pod.observed``, also of a version that a later input shows to be a creation. Queries for kinds
must find what is printed, so they read both, and choose by what the version is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from ...engine.events import KINDS, Recorded
from ...engine.log.store import LogStore, Query
from .actors import AttributedEvent, attributed
from .log_clock import clock_of
from .moment import Moment
from .times import AT_ONCE
from .verbs import OBSERVED, TELLING, VERBS, with_verbs

_EVER = 2**63 - 1
"""Of events that are waited for, all counts that is known when they come."""


def read_events(
    store: LogStore, moment: Moment, query: Query, *, follow: bool = False
) -> Iterator[Recorded]:
    """Yield the events of a query, with the kinds that all that is known at a moment gives them.

    :param follow: wait for more events, without end.
    """
    if follow:
        moment = msgspec.structs.replace(moment, known=_EVER)
    elif not _tells(store, moment):
        yield from store.read(query)
        return
    # No limit here: events that turn out to be of another kind are dropped below, and do not count.
    wider = msgspec.structs.replace(query, kinds=_with_observed(query.kinds), limit=None)
    read = store.follow(wider) if follow else store.read(wider)
    at_once = 1 if follow else min(AT_ONCE, query.limit or AT_ONCE)
    events = with_verbs(store, moment, read, at_once=max(1, at_once))
    if query.kinds and not query.positions:
        events = (event for event in events if is_of_kind(event.event.kind, query.kinds))
    yield from islice(events, query.limit)


def attributed_events(
    store: LogStore, moment: Moment, query: Query, *, follow: bool = False
) -> Iterator[AttributedEvent]:
    """Yield events as :func:`read_events`, with the bounds of their times and who caused them."""
    return attributed(
        store,
        clock_of(store, branch=moment.branch, cluster=moment.cluster),
        read_events(store, moment, query, follow=follow),
        branch=query.branch,
        at_once=1 if follow else AT_ONCE,
    )


def is_of_kind(kind: str, wanted: Sequence[str]) -> bool:
    """Return whether an event's kind is one of some, as in ``pod.bound`` or ``pod.*``."""
    return kind in wanted or f"{kind.partition('.')[0]}.*" in wanted


def _tells(store: LogStore, moment: Moment) -> bool:
    """Return whether the log holds events that may say what a version is."""
    telling = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        kinds=tuple(sorted(TELLING)),
        limit=1,
    )
    return any(True for _ in store.read(telling))


def _with_observed(kinds: Sequence[str]) -> tuple[str, ...]:
    """Add the kinds under which versions are stored that were seen in a list first."""
    nouns = (kind.rpartition(".") for kind in kinds)
    seen = (f"{noun}{OBSERVED}" for noun, _, verb in nouns if verb in VERBS)
    return tuple(dict.fromkeys([*kinds, *(kind for kind in seen if kind in KINDS)]))

"""Lists without a revision that were made after a moment: they say nothing about it.

Such a list is younger than its revision, which is a lower bound. On a quiet cluster, lists made
hours apart have the same one. So a moment that is a time knows only the lists made by then, and one
that is a revision only the first list of each scope that has it as its bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from ...engine.events.payloads import ListObserved
from ...engine.log.store import LogStore, Query
from .log_clock import StoreKey, span_of_read
from .moment import Moment


class LaterList(NamedTuple):
    """A list that was made after a moment, although its revision had happened by then."""

    position: int
    revision: int


class _Made(NamedTuple):
    position: int
    revision: int
    answered: int
    scope: tuple[str, str, tuple[str, ...]]


def later_lists(store: LogStore, moment: Moment) -> list[LaterList]:
    """Return the lists that are later than a moment and would count at its revision."""
    if moment.time is None and moment.revision is None:  # The end of the log.
        return []
    made = _made(StoreKey(store), moment.branch, moment.cluster, moment.known)
    return [LaterList(one.position, one.revision) for one in made if _is_later(one, moment, made)]


def _is_later(one: _Made, moment: Moment, made: Sequence[_Made]) -> bool:
    time, revision = moment.time, moment.revision
    if time is not None:
        return one.answered > time and (revision is None or one.revision <= revision)
    if revision is None or one.revision > revision:
        return False
    return any(
        other.revision == revision and other.scope == one.scope and other.answered < one.answered
        for other in made
    )


@lru_cache(maxsize=4)
def _made(opened: StoreKey, branch: str, cluster: str, known: int) -> list[_Made]:
    """Return the lists of a log that have a time and no revision."""
    query = Query(
        branch=branch, cluster=cluster, until=known, kinds=("list.observed",), about_kinds=True
    )
    found = []
    for recorded in opened.store.read(query):
        revision = recorded.event.revision
        if revision is None or _ANSWERED not in recorded.event.payload:
            continue
        listing = msgspec.json.decode(recorded.event.payload, type=ListObserved)
        if listing.answered is not None:
            scope = (listing.group, listing.listed, listing.namespaces)
            counts_from = span_of_read(listing.answered).earliest or listing.answered
            found.append(_Made(recorded.position, revision, counts_from, scope))
    return found


_ANSWERED = b'"answered":'

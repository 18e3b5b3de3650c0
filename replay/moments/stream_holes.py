"""Holes in the streams of a recorder: what was asked for afterwards, and what it left unseen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import msgspec

from ...engine.events.payloads import WatchRepaired
from ...engine.log.store import LogStore, Query
from ...engine.state.log_coverage import KnownGap, Pair
from .store_key import StoreKey

REPAIRED = "watch.repaired"

_LEFT: Mapping[str, str] = MappingProxyType(
    {
        "short-lived": (
            "objects that exist before or after it are known in between, those that were created "
            "and deleted in it are not"
        ),
        "bounded": (
            "of what changed in it some was read afterwards, up to a bound of requests; other "
            "changes, and objects that were created and deleted in it, are not known"
        ),
        "compacted": (
            "the server no longer had what changed in it: only what is before and after it is known"
        ),
    }
)


def left_unseen(unseen: str) -> str:
    """Return what a repair left of a hole, as a clause; empty if it is not known."""
    return _LEFT.get(unseen, "")


class StreamHole(msgspec.Struct, frozen=True, kw_only=True):
    """A hole that remains in a stream.

    :param after: the last revision before it. :param before: the first one after it.
    :param versions: how many versions and deletions in it were read afterwards.
    :param unseen: what may be missing: ``short-lived``, ``bounded`` or ``compacted``.
    """

    after: int
    before: int
    versions: int
    unseen: str

    @property
    def left(self) -> str:
        """What is known of it and what is not, as a clause."""
        return left_unseen(self.unseen)


class RepairedHole(msgspec.Struct, frozen=True, kw_only=True):
    """A hole that a recorder asked about. :param source: the stream, as inputs are named."""

    source: str
    pair: Pair
    namespaces: tuple[str, ...]
    hole: StreamHole


def repaired_holes(
    store: LogStore, *, branch: str, cluster: str, known: int
) -> tuple[RepairedHole, ...]:
    """Return the holes that recorders asked about and that remain, in the order of the log."""
    return _read(StoreKey(store), branch, cluster, known)


@lru_cache(maxsize=4)
def _read(opened: StoreKey, branch: str, cluster: str, known: int) -> tuple[RepairedHole, ...]:
    query = Query(branch=branch, cluster=cluster, until=known, kinds=(REPAIRED,), about_kinds=True)
    return tuple(_holes(opened, query))


def _holes(opened: StoreKey, query: Query) -> Iterator[RepairedHole]:
    for recorded in opened.store.read(query):
        event = recorded.event
        found = msgspec.json.decode(event.payload, type=WatchRepaired)
        yield RepairedHole(
            source=event.source,
            pair=(found.group, found.listed),
            namespaces=found.namespaces,
            hole=StreamHole(
                after=found.after,
                before=found.before,
                versions=found.versions,
                unseen=found.unseen,
            ),
        )


def unseen_in(
    holes: Iterable[RepairedHole], pair: Pair, gap: KnownGap, namespace: str | None
) -> str:
    """Return what a repair left unseen of a gap; empty if none was made of it."""
    if gap.after is None or gap.before is None:
        return ""
    for repaired in holes:
        hole = repaired.hole
        is_there = not repaired.namespaces or namespace in repaired.namespaces
        if (
            repaired.pair == pair
            and is_there
            and hole.after <= gap.after < gap.before <= hole.before
        ):
            return hole.unseen
    return ""

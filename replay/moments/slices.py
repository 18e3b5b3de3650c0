"""Logs that are a slice of another one: where the slice begins and ends.

The state at the begin is stored as the last version of each object, so the log knows nothing of
any moment before it.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from ...engine.errors import PointTooEarly
from ...engine.events.payloads import SliceBegan
from ...engine.log.store import MAIN, LogStore, Query
from .store_key import StoreKey

BEGAN = "slice.began"


class SliceBegin(msgspec.Struct, frozen=True):
    """Where a slice begins.

    :param revision: the last one that had happened; all of the state at it is known.
    :param position: the last position that the state at the begin takes.
    """

    revision: int
    position: int
    slice: SliceBegan


def begin_of(store: LogStore) -> SliceBegin | None:
    """Return where a log begins if it is a slice of another one, else None."""
    return _begin(StoreKey(store))


@lru_cache(maxsize=2)
def _begin(opened: StoreKey) -> SliceBegin | None:
    for recorded in opened.store.read(Query(branch=MAIN, positions=(1,))):
        event = recorded.event
        if event.kind == BEGAN and event.revision is not None:
            began = msgspec.json.decode(event.payload, type=SliceBegan)
            # The event itself has position 1; one version of each object follows it.
            return SliceBegin(event.revision, 1 + began.objects, began)
    return None


def refuse_earlier(
    store: LogStore, *, revision: int | None = None, position: int | None = None, said: str = ""
) -> None:
    """Check that a moment is not before the begin of a slice.

    :param said: the point, if it is not the revision.
    :raises PointTooEarly: it is.
    """
    begin = begin_of(store)
    if begin is None:
        return
    if revision is not None and revision < begin.revision:
        said = said or f"rv:{revision}"
        raise PointTooEarly(
            f"{said} is before this slice of a log begins, at rv:{begin.revision}",
            first=f"rv:{begin.revision}",
            now=f"use rv:{begin.revision} or later, or ask for a pack of more time",
        )
    if position is not None and 0 < position < begin.position:
        raise PointTooEarly(
            f"@{position} is before the state at the begin of this slice is complete",
            first=f"@{begin.position}",
            now=f"use @{begin.position} or later",
        )

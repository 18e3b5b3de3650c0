"""What lists without a revision say about time: changes that they lack came after their request.

Such a list has no revision, so a later revision may be older than the list. But where it
shows an object in an older version, the newer one came after the request, and all that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from ..events import Effect, Recorded, Reference
from ..events.payloads import ListObserved
from .event_columns import EventColumns, Int64s, distinct


class AskedList(msgspec.Struct, frozen=True, kw_only=True):
    """A list without a revision.

    :param revision: the greatest of its items, a lower bound. :param asked: when it was requested,
        microseconds.
    """

    group: str
    kind: str
    revision: int
    asked: int
    uids: frozenset[str]


def asked_list(recorded: Recorded) -> AskedList | None:
    """Return what a complete list says about later changes; None for one with a revision."""
    event = recorded.event
    # The text is looked for first: to decode each list of a log takes long.
    if event.earliest is None or event.revision is None or _LOWER_BOUND not in event.payload:
        return None
    listing = msgspec.json.decode(event.payload, type=ListObserved)
    return AskedList(
        group=listing.group,
        kind=listing.listed,
        revision=event.revision,
        asked=event.earliest,
        uids=frozenset(listing.uids),
    )


_LOWER_BOUND = b'"exact":false'


class ListFloors(msgspec.Struct, frozen=True):
    """Revisions that are later than some times."""

    revisions: Int64s
    times: Int64s


def floors_of_lists(
    lists: Sequence[AskedList],
    columns: EventColumns,
    references: Callable[[Sequence[int]], Mapping[int, Reference]],
) -> ListFloors:
    """Return for each list the first revision that it shows to be later than its request."""
    floors: list[tuple[int, int]] = []
    shown = columns.effects == Effect.VERSION
    named: dict[int, Reference] = {}
    for listing in lists:
        rows = np.flatnonzero(shown & (columns.revisions > listing.revision))
        numbers = distinct(columns.objects[rows]).tolist()
        named |= references([number for number in numbers if number not in named])
        listed = [number for number in numbers if _holds(listing, named[number])]
        later = columns.revisions[rows][np.isin(columns.objects[rows], listed)]
        if len(later):
            floors.append((int(later.min()), listing.asked))
    return ListFloors(
        np.array([revision for revision, _ in floors], np.int64),
        np.array([time for _, time in floors], np.int64),
    )


def _holds(listing: AskedList, reference: Reference) -> bool:
    same = (reference.group, reference.kind) == (listing.group, listing.kind)
    return same and reference.uid in listing.uids

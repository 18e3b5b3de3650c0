"""Complete lists that lack an object: between which times it was deleted, if no event says it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

import msgspec

from ...engine.events import KINDS, Effect, Recorded, Reference, may_come_back
from ...engine.events.complete_lists import CompleteLists
from ...engine.events.payloads import ListObserved
from ...engine.log.store import LogStore, Query
from ...engine.state.clock import Clock, TimeSpan
from ..moments.later_events import SHOWING
from ..moments.later_lists import later_lists
from ..moments.moment import Moment
from ..moments.store_key import StoreKey
from ..objects.kind_names import ObjectName

_INEXACT = b'"exact":false'
"""What the payload of a list has whose revision is a lower bound; it is canonical JSON."""


class Absence(msgspec.Struct, frozen=True):
    """The first complete list that lacks an object.

    :param recorded: the list, as an event about the object. :param key: its place in the order of
        happening. :param span: when the object was deleted.
    """

    recorded: Recorded
    key: int
    span: TimeSpan


class _Look(msgspec.Struct, frozen=True):
    """What a search is about.

    :param alive: by uid, the revisions of the versions, in order.
    :param firsts: the revisions at which an object of the name was first seen, in order.
    """

    named: ObjectName
    namespace: str
    alive: dict[str, tuple[int, ...]]
    firsts: tuple[int, ...]

    def replaced_after(self, last: int) -> int | None:
        """Return the revision of the next object of the name; None if there is none."""
        return next((first for first in self.firsts if first > last), None)


def absences(
    store: LogStore,
    moment: Moment,
    named: ObjectName,
    events: Sequence[Recorded],
    clock: Clock,
) -> Iterator[Absence]:
    """Yield the first complete list without the object, for every object that no event deletes.

    An object that another one of its name replaced was gone when that one came. Of a generated uid
    there may be several: later versions are of the next object.

    :param events: all about the object.
    """
    look = _Look(named, *_alive(events))
    if not look.alive:
        return
    later = {later_list.position for later_list in later_lists(store, moment)}
    events_of_lists = lists_of(store, moment, (named.group, named.kind))
    by_position = {event.position: event for event in events_of_lists}
    lists, waiting = CompleteLists(), dict(look.alive)
    shown: dict[str, Recorded] = {}
    for recorded in events_of_lists:
        payload = recorded.event.payload
        # A list of a large cluster has megabytes of uids, usually with this one among them.
        shown_here = [uid for uid in waiting if uid.encode() in payload]
        if recorded.position in later or (
            len(shown_here) == len(waiting) and _INEXACT not in payload
        ):
            shown |= dict.fromkeys(shown_here, recorded)
            continue
        listing = msgspec.json.decode(payload, type=ListObserved)
        lacked = lists.lacked(listing, recorded.position)
        youngest = lists.listed.get((listing.group, listing.listed, listing.namespaces))
        for uid in [uid for uid in waiting if lacked(look.namespace, uid)]:
            gone, rest = _divided(waiting[uid], uid, recorded.event.revision or 0, listing)
            if not gone:
                continue  # It came later, so the list says nothing of it.
            waiting[uid] = rest
            if not rest:
                del waiting[uid]
            without = recorded
            # The younger list came first, by its bound.
            if uid in shown_here and youngest is not None:
                without = by_position[youngest.position]
                shown[uid] = recorded
            yield _absence(without, look, (uid, gone[-1]), clock, shown.get(uid))
        shown |= dict.fromkeys([uid for uid in shown_here if uid in waiting], recorded)


def _divided(
    versions: tuple[int, ...], uid: str, listed: int, listing: ListObserved
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the versions of the object that a list shows to be gone, and those of a later one.

    :param listed: the revision of the list.
    """
    if may_come_back(uid):
        # A generated uid may be of several objects in turn: the list is between two of them.
        at = bisect_right(versions, listed)
        return versions[:at], versions[at:]
    came_later = listed < (versions[-1] if listing.exact else versions[0])
    return ((), versions) if came_later else (versions, ())


def lists_without(
    store: LogStore, moment: Moment, named: ObjectName, uids: Collection[str]
) -> list[Recorded]:
    """Return the complete lists of a kind that lack one of some objects.

    If one of them has a lower bound as its revision, all such lists are returned, as they are
    compared with each other.
    """
    wanted = [uid.encode() for uid in uids]
    events = lists_of(store, moment, (named.group, named.kind))
    lacking = [event for event in events if any(uid not in event.event.payload for uid in wanted)]
    inexact = any(_INEXACT in event.event.payload for event in lacking)
    younger = [event for event in events if inexact and _INEXACT in event.event.payload]
    return list({event.position: event for event in (*lacking, *younger)}.values())


def _alive(
    events: Sequence[Recorded],
) -> tuple[str, dict[str, tuple[int, ...]], tuple[int, ...]]:
    """Return the namespace, the revisions of objects that no event deletes, and the first of all.

    Of those, by uid, of all versions; of all, those at which they were first seen. Events without a
    revision count after all others, as their place is not known here.
    """
    alive: dict[str, list[int]] = {}
    firsts: dict[str, int] = {}
    namespace = events[-1].event.reference.namespace if events else ""
    for recorded in sorted(events, key=_happened):
        event, effect = recorded.event, KINDS[recorded.event.kind].effect
        uid, revision = event.reference.uid, event.revision
        if effect in SHOWING and revision is not None:
            firsts.setdefault(uid, revision)
        if effect is Effect.VERSION and revision is not None:
            alive.setdefault(uid, []).append(revision)
        elif effect is Effect.DELETED:
            alive.pop(uid, None)
    by_uid = {uid: tuple(revisions) for uid, revisions in sorted(alive.items())}
    return namespace, by_uid, tuple(sorted(firsts.values()))


def _happened(recorded: Recorded) -> tuple[bool, int, int]:
    revision, effect = recorded.event.revision, KINDS[recorded.event.kind].effect
    return revision is None, revision or 0, effect


def _absence(
    without: Recorded, look: _Look, gone: tuple[str, int], clock: Clock, shown: Recorded | None
) -> Absence:
    """Return an absence.

    :param without: the list that lacks the object. :param gone: its uid and its last revision.
    :param shown: the last list before that has it.
    """
    named, (uid, last) = look.named, gone
    reference = Reference(named.group, named.kind, look.namespace, named.name, uid)
    event = msgspec.structs.replace(without.event, reference=reference)
    recorded = msgspec.structs.replace(without, event=event)
    listed, replaced = event.revision or 0, look.replaced_after(last)
    span, version = clock.spans([listed, last])
    lows = [version.earliest, None if shown is None else shown.event.earliest]
    if replaced is not None and replaced <= listed:
        # The list is younger than the next object of the name, so that one bounds the time better.
        (next_one,) = clock.spans([replaced])
        return Absence(recorded, replaced * 2 - 1, _between(lows, next_one.latest, None))
    # An exact revision after the last version: the object was gone when the list was made.
    if listed > last and _INEXACT not in event.payload:
        return Absence(recorded, listed * 2 + 1, _between(lows, span.latest, span.estimate))
    # A revision that is only a lower bound dates nothing; the time of the answer does.
    high = span.latest if event.latest is None else event.latest
    return Absence(recorded, max(listed, last) * 2 + 1, _between(lows, high, span.estimate))


def _between(lows: Sequence[int | None], high: int | None, estimate: int | None) -> TimeSpan:
    """Return the time between the last that shows an object and what lacks it."""
    low = max((low for low in lows if low is not None), default=None)
    if high is None:
        return TimeSpan(low, None, estimate if low is None else low)
    if low is None or low > high:  # The inputs' clocks disagree.
        return TimeSpan(None, high, high)
    return TimeSpan(low, high, low + (high - low) // 2)


def lists_of(store: LogStore, moment: Moment, pair: tuple[str, str]) -> list[Recorded]:
    """Return the complete lists of a kind that have a revision, in order of these."""
    lists = _lists(StoreKey(store), moment.branch, moment.cluster, moment.known, pair)
    query = Query(branch=moment.branch, cluster=moment.cluster, positions=lists)
    events = store.read(query) if lists else ()
    return sorted(events, key=_order)


def _order(recorded: Recorded) -> tuple[int, bool, int, int, bytes]:
    """Order lists by revision, and those of one revision as :class:`ListObserved` does."""
    event, payload = recorded.event, recorded.event.payload
    younger = _INEXACT in payload
    return event.revision or 0, younger, event.latest or 0, -len(payload), payload


@lru_cache(maxsize=8)  # No index finds these events, and each object of a kind needs them.
def _lists(
    opened: StoreKey, branch: str, cluster: str, known: int, pair: tuple[str, str]
) -> tuple[int, ...]:
    """Return the positions of these lists."""
    query = Query(
        branch=branch, cluster=cluster, until=known, kinds=("list.observed",), objects=(pair,)
    )
    events = opened.store.read(query)
    return tuple(event.position for event in events if event.event.revision is not None)

"""What happened at a version that a list showed: other events may say that it was a write.

A log keeps the first event of each version. If a list came before the watch or the audit log that
has the write, a later event says so: ``version.attributed`` or ``version.timed``. With it the
version is called by the same kind in whatever order inputs are ingested.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

import msgspec

from ...engine.events import KINDS, Effect, Recorded, Reference
from ...engine.log.store import LogStore, Query
from .moment import Moment
from .times import AT_ONCE

OBSERVED = ".observed"
"""How the kind of an event ends whose version was only seen."""

TELLING = frozenset({"version.attributed", "version.timed"})
"""The kinds of events that may say what happened at a version."""

_ONLY_SEEN = frozenset(
    kind
    for kind, info in KINDS.items()
    if kind.endswith(OBSERVED) and info.effect is Effect.VERSION
)
"""Lists are observed, too, but are no versions: no write explains them."""

VERBS = ("created", "updated")
"""What they may say."""

_FEW = 64
"""So many revisions are looked up one by one."""

VersionPlace: TypeAlias = tuple[str, str, str, int | None]
"""API group, kind, namespace and revision."""


class VersionVerb(msgspec.Struct, frozen=True):
    """What an event says that happened at a version. :param position: of the event."""

    position: int
    verb: str


class _Verb(msgspec.Struct):
    verb: str = ""


_DECODE = msgspec.json.Decoder(_Verb).decode


def with_verbs(
    store: LogStore, moment: Moment, events: Iterable[Recorded], *, at_once: int = AT_ONCE
) -> Iterator[Recorded]:
    """Yield events, with the kinds of versions as all that is known at a moment says.

    :param at_once: how many are held in memory; 1 for events that are waited for.
    """
    source = iter(events)
    while block := list(islice(source, at_once)):
        by_place = verbs_told(store, moment, block)
        yield from (called(event, by_place, moment.known) for event in block)


def is_only_seen(kind: str) -> bool:
    """Return whether an event of this kind is an object's version that was only seen."""
    return kind in _ONLY_SEEN


def verbs_told(
    store: LogStore, moment: Moment, events: Sequence[Recorded]
) -> Mapping[VersionPlace, Sequence[VersionVerb]]:
    """Return what the log says that happened at the versions that were only seen."""
    return verbs_at(
        store, moment, {_place(event) for event in events if is_only_seen(event.event.kind)}
    )


def verbs_at(
    store: LogStore, moment: Moment, places: Collection[VersionPlace]
) -> Mapping[VersionPlace, Sequence[VersionVerb]]:
    """Return what the log says that happened at some versions."""
    revisions = sorted({place[-1] for place in places if place[-1] is not None})
    verbs: dict[VersionPlace, list[VersionVerb]] = {}
    for low, high in _ranges(revisions):
        query = Query(
            branch=moment.branch,
            cluster=moment.cluster,
            until=moment.known,
            kinds=tuple(sorted(TELLING)),
            revisions=(low, high),
        )
        for recorded in store.read(query):
            verb = verb_of_version(recorded)
            if verb in VERBS and _place(recorded) in places:
                verbs.setdefault(_place(recorded), []).append(VersionVerb(recorded.position, verb))
    return verbs


def verb_of_version(telling: Recorded) -> str:
    """Return what an event of :data:`TELLING` says that happened at its version."""
    return _DECODE(telling.event.payload).verb


def called(
    recorded: Recorded, by_place: Mapping[VersionPlace, Sequence[VersionVerb]], known: int
) -> Recorded:
    """Return an event with the kind that what is known by a position gives it."""
    kind = recorded.event.kind
    if not by_place or not is_only_seen(kind):
        return recorded
    verbs = [verb.verb for verb in by_place.get(_place(recorded), ()) if verb.position <= known]
    if not verbs:
        return recorded
    # If inputs say both, "created" counts: the choice must not depend on their order.
    event = msgspec.structs.replace(
        recorded.event, kind=f"{kind.removesuffix(OBSERVED)}.{min(verbs)}"
    )
    return msgspec.structs.replace(recorded, event=event)


def place_of(reference: Reference, revision: int | None) -> VersionPlace:
    """Return the place of an object's version; no other object of its kind has it."""
    return reference.group, reference.kind, reference.namespace, revision


def _place(recorded: Recorded) -> VersionPlace:
    return place_of(recorded.event.reference, recorded.event.revision)


def _ranges(revisions: Sequence[int]) -> list[tuple[int, int]]:
    """Return the ranges of revisions to read: each alone, or from the first to the last."""
    # Few revisions may be far apart; of many, one range costs less than so many queries.
    if len(revisions) <= _FEW:
        return [(revision, revision) for revision in revisions]
    return [(revisions[0], revisions[-1])]

"""``--complete``: the inputs hold all objects of each kind that they hold any of.

Of a backup or a must-gather, with a file for each object, nothing else shows that it is whole. What
is said so is stored as such: its lists are marked as asserted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...engine.events import KINDS, Effect, Event, Reference, canonical_json
from ...engine.events.payloads import JoinedList, ListObserved, ListsJoined
from ...engine.events.storable import printable
from ...engine.ingest.reading.broken import BrokenLists
from ...engine.kubernetes.resources import GroupKind

FORMATS = frozenset({"object-list", "object-yaml"})
"""The formats whose objects count."""

_LONGEST = 200
"""Characters of the names of inputs in a source."""


class AssertedLists:
    """The objects of one call, by kind."""

    def __init__(self) -> None:
        self.broken = BrokenLists()
        self._uids: dict[GroupKind, set[str]] = {}
        self._highest: dict[GroupKind, int] = {}
        self._latest: int | None = None

    def add(self, event: Event) -> None:
        """Take an event; those that are no version of an object are ignored."""
        if KINDS[event.kind].effect is not Effect.VERSION:
            return
        pair = event.reference.group, event.reference.kind
        self._uids.setdefault(pair, set()).add(event.reference.uid)
        self._highest[pair] = max(self._highest.get(pair, 0), event.revision or 0)
        if event.latest is not None:
            self._latest = max(self._latest or 0, event.latest)

    def events(self, paths: Sequence[str], cluster: str) -> Iterator[Event]:
        """Yield a list of each kind, and that they were made together.

        Of a kind that lacks a record as it was skipped, why it has no list is yielded instead.

        :param paths: the inputs, which are the source of these events.
        """
        source = ", ".join(map(printable, sorted(paths)))[:_LONGEST]
        whole = list[GroupKind]()
        for pair in sorted({*self._uids, *self.broken.kinds()}):
            # A list that lacks a skipped record would make its object seem deleted.
            if self.broken.breaks(pair):
                revision = self._highest.get(pair, 0)
                yield self.broken.event(pair, revision, source=source, line=0, cluster=cluster)
            else:
                whole.append(pair)
        for pair in whole:
            yield self._list(pair, source, cluster)
        # One list needs no event that says what was listed together.
        if len(whole) > 1:
            yield self._joined(whole, source, cluster)

    def _list(self, pair: GroupKind, source: str, cluster: str) -> Event:
        revision = self._highest[pair]
        listed = ListObserved(
            group=pair[0],
            listed=pair[1],
            uids=tuple(sorted(self._uids[pair])),
            exact=False,
            asserted=True,
            answered=self._latest,
        )
        return Event(
            kind="list.observed",
            reference=Reference(*pair),
            payload=canonical_json(listed),
            resource_version=str(revision),
            revision=revision,
            latest=self._latest,
            source=source,
            cluster=cluster,
        )

    def _joined(self, whole: Sequence[GroupKind], source: str, cluster: str) -> Event:
        kinds = tuple(
            JoinedList(group=group, listed=kind, revision=self._highest[group, kind])
            for group, kind in whole
        )
        joined = ListsJoined(
            kinds=kinds,
            until=max(kind.revision for kind in kinds),
            asserted=True,
            answered=self._latest,
        )
        return Event(
            kind="lists.joined",
            reference=Reference(kind="List"),
            payload=canonical_json(joined),
            source=source,
            cluster=cluster,
        )


def until(event: Event) -> int:
    """Return the revision after which an event without one belongs."""
    if event.kind == "lists.joined":
        return msgspec.json.decode(event.payload, type=ListsJoined).until
    return 0

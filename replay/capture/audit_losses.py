"""Writes that a watch shows and an audit log does not: suspected losses of the audit log.

An API server whose buffer is full drops records, and nothing in the stream shows it. A revision
that a watch has, and of which no record has come after a while, was dropped, or the policy leaves
such writes out. So it is a suspicion, and counts only for kinds of which writes were recorded.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...engine.events import KINDS, Effect, Event, Reference, canonical_json
from ...engine.events.payloads import AuditLacked
from ...engine.kubernetes.resources import GroupKind

GRACE_SECONDS = 60.0
"""How long a record may come after its change: buffers, retries, a recorder that was away."""

_MOST = 100_000
"""Changes that are remembered; beyond that the oldest are given up, and count as recorded."""

_COMPARED = frozenset({Effect.VERSION, Effect.DELETED})
_READ = ".observed"


class _Change(NamedTuple):
    at: float
    pair: GroupKind
    revision: int


class AuditLosses:
    """Compares what streams read; threads share it.

    :param clock: seconds, which begin anywhere and never go back.
    """

    def __init__(
        self, clock: Callable[[], float], *, source: str, cluster: str, grace: float = GRACE_SECONDS
    ) -> None:
        self._clock, self._grace = clock, grace
        self._source, self._cluster = source, cluster
        self._lock = threading.Lock()
        self._watched: deque[_Change] = deque(maxlen=_MOST)
        self._recorded: deque[_Change] = deque(maxlen=_MOST)
        self._known: set[tuple[GroupKind, int]] = set()
        self._first: dict[GroupKind, int] = {}

    def watched(self, event: Event) -> None:
        """Note a change that a watch shows."""
        change = self._change(event)
        if change is not None:
            with self._lock:
                self._watched.append(change)

    def recorded(self, event: Event) -> None:
        """Note a change that the audit log shows."""
        change = self._change(event)
        if change is None:
            return
        with self._lock:
            self._recorded.append(change)
            self._known.add((change.pair, change.revision))
            first = self._first.setdefault(change.pair, change.revision)
            self._first[change.pair] = min(first, change.revision)

    def found(self) -> Iterator[Event]:
        """Yield an event for each kind of which changes lack records; each change counts once."""
        lacking: dict[GroupKind, list[int]] = {}
        with self._lock:
            now = self._clock()
            while self._watched and now - self._watched[0].at >= self._grace:
                change = self._watched.popleft()
                if self._lacks(change):
                    lacking.setdefault(change.pair, []).append(change.revision)
            # A record may be older than its change, as streams are apart.
            while self._recorded and now - self._recorded[0].at >= 3 * self._grace:
                old = self._recorded.popleft()
                self._known.discard((old.pair, old.revision))
        for pair, revisions in sorted(lacking.items()):
            yield self._event(pair, revisions)

    def _lacks(self, change: _Change) -> bool:
        first = self._first.get(change.pair)
        # What came before the first record was written before the webhook was there.
        return (
            first is not None
            and change.revision > first
            and (change.pair, change.revision) not in self._known
        )

    def _change(self, event: Event) -> _Change | None:
        kind = event.kind
        # A batch that was kept on disk may be of an epoch that ended.
        if event.cluster != self._cluster or event.revision is None or kind.endswith(_READ):
            return None
        if KINDS[kind].effect not in _COMPARED:
            return None
        about = event.reference
        return _Change(self._clock(), (about.group, about.kind), event.revision)

    def _event(self, pair: GroupKind, revisions: list[int]) -> Event:
        group, kind = pair
        payload = AuditLacked(
            group=group,
            listed=kind,
            changes=len(revisions),
            first=min(revisions),
            last=max(revisions),
        )
        return Event(
            kind="audit.lacked",
            reference=Reference(group, kind),
            payload=canonical_json(payload),
            source=self._source,
            cluster=self._cluster,
        )

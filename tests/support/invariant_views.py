"""Views of small clusters for invariants, and what is violated in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from happenings import version_of

from plinian.engine.cache.projector import Projector
from plinian.engine.events import Event
from plinian.engine.invariants.catalogue import INVARIANTS
from plinian.engine.invariants.invariant import Violation
from plinian.engine.invariants.view import EVICTIONS, ClusterView, QueueLimits, SessionView
from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.engine.volcano.session.history import resolve
from sessions import RELEASE, Document

BY_ID = {one.id: one for one in INVARIANTS}


class Story:
    """A cluster that changes event by event, with the view that follows it."""

    def __init__(
        self,
        *documents: Document,
        release: str = RELEASE,
        actors: Mapping[int, str] | None = None,
    ) -> None:
        self._projector = Projector(resolve(release))
        self.view = ClusterView(self._projector, actors)
        self._position = 0
        for each in documents:
            self.then("created", each)

    def then(self, verb: str, each: Document) -> list[tuple[str, str]]:
        """Let an object be created, updated or deleted; return the units that may change."""
        self._position += 1
        return self._take(version_of(verb, each, self._position))

    def _take(self, event: Event) -> list[tuple[str, str]]:
        self._projector.apply(event, position=self._position)
        return list(self.view.take(event, self._position))

    def violations(self, name: str) -> list[Violation]:
        """Return what is violated of one invariant, unit by unit."""
        one = BY_ID[name]
        units = [*self.view.units(), ("Session", ""), (EVICTIONS, "")]
        return [
            found
            for kind, unit in units
            if kind == one.unit
            for found in one.check(self.view, unit)
        ]

    def violated(self, name: str) -> list[str]:
        """Return the names of the objects of which an invariant is violated."""
        return [one.name for one in self.violations(name)]

    def session(self, limits: QueueLimits = QueueLimits.FLAT, **made: Any) -> None:
        """Let a session have had this result."""
        self.view.session = SessionView(SessionResult(**made), limits)


def owned(each: Document, kind: str, name: str, uid: str) -> Document:
    """Return an object with a controller."""
    owner = {"kind": kind, "name": name, "uid": uid, "apiVersion": "v1", "controller": True}
    return {**each, "metadata": {**each["metadata"], "ownerReferences": [owner]}}


def deleting(each: Document) -> Document:
    """Return an object that is being deleted."""
    stamp = {"deletionTimestamp": "2026-01-02T12:00:00Z"}
    return {**each, "metadata": {**each["metadata"], **stamp}}


def with_uid(each: Document, uid: str) -> Document:
    """Return an object with another uid."""
    return {**each, "metadata": {**each["metadata"], "uid": uid}}

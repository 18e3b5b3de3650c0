"""Which objects a write may concern besides: what an owner owns, and what is in a namespace."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from .....engine.kubernetes.resources import GroupKind
from .....engine.state.truth_fold import Entry
from ..read.cluster_state import Name, in_parts, name_of
from .branch_objects import BranchState
from .storing import owners_of
from .strategic import Document

_AT_ONCE = 500
_NAMES_OWNERS = b'"ownerReferences":'


class Owned:
    """Which objects name an owner, by its uid; built when it is first asked.

    What no longer names it may be among them.
    """

    def __init__(self) -> None:
        self._places: dict[str, dict[tuple[GroupKind, Name], None]] | None = None

    def add(self, document: Document, pair: GroupKind, name: Name) -> None:
        """Take notice of a new version."""
        if self._places is not None:
            for uid in owners_of(document):
                self._places.setdefault(uid, {})[pair, name] = None

    def places(self, uid: str, state: BranchState) -> list[tuple[GroupKind, Name]]:
        """Return the objects that name an owner."""
        if self._places is None:
            self._places = {}
            for pair, entry, document in _with_owners(state):
                self.add(document, pair, name_of(entry))
        return list(self._places.get(uid, ()))


def _with_owners(state: BranchState) -> Iterator[tuple[GroupKind, Entry, Document]]:
    for pair in state.kinds:
        for portion in in_parts([entry for entry in state.of(pair) if entry.position], _AT_ONCE):
            for entry, body in zip(portion, state.stored(portion), strict=True):
                if _NAMES_OWNERS in body:
                    yield pair, entry, msgspec.json.decode(body)


class Neighbours:
    """The objects of a branch that a write may concern besides.

    :param known: the kinds of which the log knows all objects.
    """

    def __init__(self, state: BranchState, owned: Owned, known: Container[GroupKind]) -> None:
        self._state, self._owned, self._known = state, owned, known
        # A write may name thousands of owners.
        self._uids_of = cache(lambda kind: {entry.reference.uid for entry in state.of(kind)})
        self._uids_ever = cache(lambda kind: frozenset(state.uids_ever(kind)))

    def owned_by(self, uid: str) -> Iterable[Document]:
        """Return the objects that name an owner."""
        for pair, name in self._owned.places(uid, self._state):
            entry = self._state.find(pair, name)
            if entry is not None:
                document = self._state.document(entry)
                if uid in owners_of(document):
                    yield document

    def inside(self, namespace: str) -> Iterable[Document]:
        """Return the objects in a namespace."""
        for pair in self._state.kinds:
            for entry in self._state.of(pair):
                if entry.reference.namespace == namespace:
                    yield self._state.document(entry)

    def has(self, uid: str) -> bool:
        """Return whether there is an object with a uid."""
        return any(uid in self._uids_of(pair) for pair in self._state.kinds)

    def is_gone(self, owner: Mapping[str, Any]) -> bool:
        """Return whether the object of an owner reference is known not to exist (any more).

        One that the log never had may exist, if it does not know all objects of that kind.
        """
        kind = str(owner["apiVersion"]).rpartition("/")[0], str(owner["kind"])
        uid = owner["uid"]
        if uid in self._uids_of(kind):
            return False
        return kind in self._known or uid in self._uids_ever(kind)

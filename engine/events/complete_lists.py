"""What complete lists show of objects that they lack, while events come in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

import msgspec

from .kinds import Reference, may_come_back
from .payloads import ListObserved

Shape: TypeAlias = tuple[str, str, tuple[str, ...]]
"""The scope of a list: API group, kind and namespaces. Lists of one scope are compared."""


class Named(Protocol):
    """What a list may have or lack: an object, or a reference to one."""

    @property
    def namespace(self) -> str:
        """Its namespace, empty for kinds without one."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def uid(self) -> str:
        """Its uid."""


class LastList(msgspec.Struct, frozen=True):
    """The youngest list without a revision of a scope: its objects, and when it was answered."""

    uids: frozenset[str]
    answered: int | None = None


def lacked_by(listing: ListObserved, before: LastList | None) -> Callable[[str, str], bool]:
    """Return a predicate: whether a list shows that an object of its kind was deleted.

    It is called with namespace and uid. A list with a revision covers all objects in its scope. A
    list without (kubectl's ``List``) may be an excerpt: it is compared with the last list of the
    same kind and namespaces, and shows the deletion only of objects in that one. If its time is
    before that of the other, as their bounds do not tell, the other shows what was deleted.

    :param before: that other list; None if there is none.
    """
    listed, namespaces = frozenset(listing.uids), frozenset(listing.namespaces)
    earlier = frozenset[str]() if before is None else before.uids
    younger = listed
    if before is not None and is_older(listing, before):
        earlier, younger = listed, before.uids

    def lacked(namespace: str, uid: str) -> bool:
        in_scope = not namespaces or namespace in namespaces
        return in_scope and uid not in younger and (listing.exact or uid in earlier)

    return lacked


def is_older(listing: ListObserved, other: LastList) -> bool:
    """Return whether a list without a revision was made before another one, by their times."""
    own, others = listing.answered, other.answered
    return own is not None and others is not None and own < others


class Listing(msgspec.Struct, frozen=True):
    """A list without a revision, and the position of its event, 0 if it is in no log."""

    list: LastList
    position: int


class CompleteLists:
    """The lists of a log up to some event, and what they show.

    :ivar listed: by scope, the youngest list without a revision.
    :ivar doomed: objects with later events that a list lacked whose revision is a lower bound. A
        uid alone does not name an object: lists that people wrote may repeat one.
    """

    def __init__(self) -> None:
        self.listed: dict[Shape, Listing] = {}
        self.doomed: dict[Reference, None] = {}

    def lacked(self, listing: ListObserved, position: int = 0) -> Callable[[str, str], bool]:
        """Take the next list, and return what :func:`.lacked_by` does.

        :param position: of its event.
        """
        shape = (listing.group, listing.listed, listing.namespaces)
        last_listing = self.listed.get(shape)
        before = None if last_listing is None else last_listing.list
        # Lists with a revision say by themselves what exists, so they are not compared with later
        # ones.
        if not listing.exact and (before is None or not is_older(listing, before)):
            last = LastList(frozenset(listing.uids), listing.answered)
            self.listed[shape] = Listing(last, position)
        return lacked_by(listing, before)

    def gone(
        self,
        listing: ListObserved,
        existing: Iterable[Named],
        lives_on: Callable[[Reference], bool],
        position: int = 0,
    ) -> list[Reference]:
        """Take the next list, and return the objects that no longer exist as it lacks them.

        A list that lacks an object with later versions was not complete; or it is younger, if its
        revision is a lower bound: then the object goes after its last version, see :meth:`goes`.

        :param existing: all objects of its kind that exist.
        :param lives_on: returns whether an object has later versions.
        """
        lacked, references = self.lacked(listing, position), []
        for item in existing:
            if not lacked(item.namespace, item.uid):
                continue
            reference = Reference(
                listing.group, listing.listed, item.namespace, item.name, item.uid
            )
            if may_come_back(item.uid) or not lives_on(reference):
                self.doomed.pop(reference, None)
                references.append(reference)
            elif not listing.exact:
                self.doomed[reference] = None
        return references

    def goes(self, reference: Reference, lives_on: Callable[[Reference], bool]) -> bool:
        """Return whether an object no longer exists after its event, as a list lacked it before."""
        if reference not in self.doomed or lives_on(reference):
            return False
        del self.doomed[reference]
        return True

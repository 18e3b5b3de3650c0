"""What one session says about an object, before it becomes an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...engine.state.log_coverage import Pair
from .records import Link

ObjectKey = tuple[Pair, str]
"""A kind, and ``namespace/name`` or the name."""


class SessionFinding(NamedTuple):
    """What a session says about an object.

    :param sentence: the answer. :param waits: None if the data does not say.
    :param cause: stays the same as long as the answer does.
    :param chain: the reasons, in the order in which the scheduler comes to them.
    :param about: the objects that the answer rests on.
    """

    sentence: str
    waits: bool | None
    cause: str
    chain: tuple[Link, ...] = ()
    about: tuple[ObjectKey, ...] = ()

    def after(self, links: Iterable[Link], *about: ObjectKey) -> SessionFinding:
        """Return the same with reasons before its own, and objects before its own."""
        chain = (*links, *self.chain)
        return self._replace(chain=chain, about=tuple(dict.fromkeys((*about, *self.about))))


class Blocked(NamedTuple):
    """What keeps a job or a pod waiting: the words after "because", and its links.

    :param because: without the object; ``{}`` does not occur in it.
    """

    because: str
    cause: str
    links: tuple[Link, ...]
    about: tuple[ObjectKey, ...] = ()

    def and_also(self, other: Blocked, says: str = "") -> Blocked:
        """Return this reason and another one that holds beside it; the cause stays.

        :param says: instead of what the other one says.
        """
        return self._replace(
            because=f"{self.because}; {says or f'also, {other.because}'}",
            links=(*self.links, *other.links),
            about=tuple(dict.fromkeys((*self.about, *other.about))),
        )

    def finding(self, subject: str, *, verb: str = "waits because") -> SessionFinding:
        """Return what this means for an object."""
        begin = f"{subject} {verb}".rstrip()
        return SessionFinding(f"{begin} {self.because}", True, self.cause, self.links, self.about)

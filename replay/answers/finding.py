"""What one session says about an object, before it becomes an answer."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...engine.state.log_coverage import Pair
from .records import Link

ObjectKey = tuple[Pair, str]
"""A kind, and ``namespace/name`` or the name."""


class SessionFinding(msgspec.Struct, frozen=True):
    """What a session says about an object.

    :param sentence: the answer. :param waits: None if the data does not say.
    :param cause: a code; with ``of`` it stays the same as long as the answer does.
    :param chain: the reasons, in the order in which the scheduler comes to them.
    :param about: the objects that the answer rests on.
    :param of: the names that the cause is about, or the causes that come after it.
    :param begin: of the sentence, up to the reason; empty if it has none.
    """

    sentence: str
    waits: bool | None
    cause: str
    chain: tuple[Link, ...] = ()
    about: tuple[ObjectKey, ...] = ()
    of: tuple[str, ...] = ()
    begin: str = ""

    @property
    def reason(self) -> str:
        """The sentence without what waits, where that is said already."""
        return self.sentence[len(self.begin) :]

    @property
    def full_cause(self) -> str:
        """The cause as documents have it."""
        return " ".join((self.cause, *self.of))

    def after(self, links: Iterable[Link], *about: ObjectKey) -> SessionFinding:
        """Return the same with reasons before its own, and objects before its own."""
        chain = (*links, *self.chain)
        return msgspec.structs.replace(
            self, chain=chain, about=tuple(dict.fromkeys((*about, *self.about)))
        )


class Blocked(msgspec.Struct, frozen=True):
    """What keeps a job or a pod waiting: the words after "because", and its links.

    :param because: without the object; ``{}`` does not occur in it.
    :param cause, of: as in :class:`SessionFinding`.
    """

    because: str
    cause: str
    links: tuple[Link, ...]
    about: tuple[ObjectKey, ...] = ()
    of: tuple[str, ...] = ()

    def and_also(self, other: Blocked, says: str = "") -> Blocked:
        """Return this reason and another one that holds beside it; the cause stays.

        :param says: instead of what the other one says.
        """
        return msgspec.structs.replace(
            self,
            because=f"{self.because}; {says or f'also, {other.because}'}",
            links=(*self.links, *other.links),
            about=tuple(dict.fromkeys((*self.about, *other.about))),
        )

    def finding(self, subject: str, *, verb: str = "waits because") -> SessionFinding:
        """Return what this means for an object."""
        begin = f"{f'{subject} {verb}'.rstrip()} "
        sentence = f"{begin}{self.because}"
        return SessionFinding(sentence, True, self.cause, self.links, self.about, self.of, begin)


GANG_SHORT = "gang-incomplete"
"""The cause of a gang of which only some pods have a place; that of the others follows it."""


def causes_of(found: SessionFinding | Blocked) -> tuple[str, ...]:
    """Return the cause, and that of the pods of a gang that have no place though others have."""
    return (found.cause, *(found.of[:1] if found.cause == GANG_SHORT else ()))

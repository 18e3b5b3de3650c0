"""Which of several equals is chosen: an input decides where Volcano picks at random.

The recorded outcomes use the least name, so that is the default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Protocol


class Chooser(Protocol):
    """Chooses among equals."""

    def choose(self, what: str, about: str, equals: Sequence[str]) -> int:
        """Return the index of the chosen one.

        :param what: the kind of choice: ``node``, ``hypernode``, or ``reason``: the pod whose
            reason the message of a gang has.
        :param about: what it is chosen for, ``ns/pod`` or ``ns/podgroup``.
        :param equals: names, in ascending order, of pods in that of the session; at least two.
        """
        ...


class LeastName:
    """Takes the least name."""

    def choose(self, what: str, about: str, equals: Sequence[str]) -> int:
        """Return 0."""
        del what, about, equals
        return 0


class RecordedChoice:
    """Chooses what was recorded, if it is among the equals; else the least name.

    :param choices: (kind of choice, what for) to the name.
    """

    def __init__(self, choices: Mapping[tuple[str, str], str]) -> None:
        self._choices = choices

    def choose(self, what: str, about: str, equals: Sequence[str]) -> int:
        """Return the index of the recorded name, or 0."""
        name = self._choices.get((what, about))
        return equals.index(name) if name is not None and name in equals else 0


class Seeded:
    """Chooses by a hash of a seed and the question: the same on every machine."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def choose(self, what: str, about: str, equals: Sequence[str]) -> int:
        """Return an index that depends only on the seed and the question."""
        hashed = "\0".join((str(self._seed), what, about, *equals))
        digest = blake2b(hashed.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % len(equals)

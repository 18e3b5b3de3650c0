"""What took long to make, kept in bounds: who asks the same again gets it at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

from starlette.responses import Response

MOST_BYTES = 4 << 20
"""In all answers that are kept."""

MOST_OF_ONE = MOST_BYTES // 4

V = TypeVar("V")


class LastUsed(Generic[V]):
    """Values by key, the least used of which are dropped; threads share it.

    :param most: the size of all values; a larger one is kept until another one comes.
    :param size: of a value.
    """

    def __init__(self, most: int, size: Callable[[V], int]) -> None:
        self._most, self._size_of = most, size
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, V] = OrderedDict()
        self._size = 0

    def find(self, key: Hashable) -> V | None:
        """Return what was kept; None if it was not, or is no more."""
        with self._lock:
            value = self._kept.get(key)
            if value is not None:
                self._kept.move_to_end(key)
            return value

    def put(self, key: Hashable, value: V) -> V:
        """Keep a value, drop those that were used least lately, and return it."""
        with self._lock:
            if key in self._kept:
                self._size -= self._size_of(self._kept.pop(key))
            self._kept[key] = value
            self._size += self._size_of(value)
            while self._size > self._most and len(self._kept) > 1:
                self._size -= self._size_of(self._kept.popitem(last=False)[1])
        return value

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return what was kept, or make and keep it."""
        value = self.find(key)
        return self.put(key, make()) if value is None else value


class Sent(NamedTuple):
    """An answer as it was sent."""

    body: bytes
    headers: tuple[tuple[bytes, bytes], ...]

    def again(self) -> Response:
        """Return the answer."""
        response = Response()
        response.body, response.raw_headers = self.body, list(self.headers)
        return response


class KeptAnswers(LastUsed[Sent]):
    """Answers by their tag.

    A tag says of what log, version, question and settings an answer follows, so one that is kept
    can never be outdated.
    """

    def __init__(self) -> None:
        super().__init__(MOST_BYTES, lambda sent: len(sent.body))

    def keep(self, tag: str, answer: Response) -> None:
        """Keep an answer, unless it is too large."""
        if len(answer.body) <= MOST_OF_ONE:
            self.put(tag, Sent(bytes(answer.body), tuple(answer.raw_headers)))

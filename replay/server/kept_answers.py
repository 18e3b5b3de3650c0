"""The last answers that took long, as they were sent: who asks the same again gets them at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple

from starlette.responses import Response

MOST_BYTES = 4 << 20
"""In all answers that are kept."""

MOST_OF_ONE = MOST_BYTES // 4


class Sent(NamedTuple):
    """An answer as it was sent."""

    body: bytes
    headers: tuple[tuple[bytes, bytes], ...]

    def again(self) -> Response:
        """Return the answer."""
        made = Response()
        made.body, made.raw_headers = self.body, list(self.headers)
        return made


class KeptAnswers:
    """Answers by their tag, the last used last; threads may share it.

    A tag says of what log, version, question and settings an answer follows, so one that is kept
    can never be outdated.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Sent] = OrderedDict()
        self._bytes = 0

    def find(self, tag: str) -> Sent | None:
        """Return the answer that has a tag; None if it is not kept."""
        with self._lock:
            found = self._kept.get(tag)
            if found is not None:
                self._kept.move_to_end(tag)
            return found

    def keep(self, tag: str, answer: Response) -> None:
        """Keep an answer, and drop those that were used least lately."""
        sent = Sent(bytes(answer.body), tuple(answer.raw_headers))
        if len(sent.body) > MOST_OF_ONE:
            return
        with self._lock:
            before = self._kept.pop(tag, None)
            self._bytes += len(sent.body) - (0 if before is None else len(before.body))
            self._kept[tag] = sent
            while self._bytes > MOST_BYTES:
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= len(dropped.body)

"""How long the answer to a question may take.

A thread of Python cannot be killed from outside. So a question that takes long looks now and then
whether it should go on: answers that report their progress call :meth:`Limit.progress`.
"""

from __future__ import annotations

import threading
from time import monotonic

from ...engine.errors import PlinianError


class TookTooLong(PlinianError):
    """An answer takes longer than the server allows."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the answer takes longer than {seconds:g} s",
            now="narrow the question: another moment, fewer objects, or a larger budget",
        )


class AnswerLimit:
    """The time that an answer may take, from when it begins.

    :param seconds: how many.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = float("inf")
        self._stopped = threading.Event()

    def begin(self) -> None:
        """Start to count."""
        self._end = monotonic() + self._seconds

    def stop(self) -> None:
        """End the answer early: no request waits for it any more."""
        self._stopped.set()

    @property
    def is_over(self) -> bool:
        """Return whether the answer must end."""
        return self._stopped.is_set() or monotonic() > self._end

    def progress(self, _done: int, _total: int) -> None:
        """Go on, or not; to be called now and then by what answers.

        :raises TookTooLong: the time is over, or no request waits.
        """
        if self.is_over:
            raise TookTooLong(self._seconds)

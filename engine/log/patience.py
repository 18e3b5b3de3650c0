"""What is tried again while a database comes back, and for how long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from ..errors import ConnectionLost

T = TypeVar("T")

PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0, 5.0, 5.0)
"""Seconds between the tries: half a minute in all, in which a server restarts."""


class Patience:
    """Counts the tries in a row that found no database."""

    def __init__(self) -> None:
        self._pauses = iter(PAUSES)

    def wait(self, fault: ConnectionLost) -> None:
        """Wait before the next try.

        :raises ConnectionLost: there were enough.
        """
        pause = next(self._pauses, None)
        if pause is None:
            raise fault
        time.sleep(pause)

    def renew(self) -> None:
        """Start again: the database answers."""
        self._pauses = iter(PAUSES)


def patiently(job: Callable[[], T], *, may_be_done: bool = True) -> T:
    """Return what a job returns, which is done again if the connection is lost meanwhile.

    :param may_be_done: it does no harm if the job is done twice. If it does, a commit of which no
        answer came is not repeated.
    :raises ConnectionLost: the database does not come back in time.
    """
    patience = Patience()
    while True:
        try:
            return job()
        except ConnectionLost as fault:
            if fault.committing and not may_be_done:
                raise
            patience.wait(fault)


def lasting(begin: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Yield what an iterator yields; after a lost connection another one goes on.

    :param begin: returns an iterator of what was not yielded yet.
    :raises ConnectionLost: the database does not come back in time.
    """
    patience = Patience()
    while True:
        try:
            for item in begin():
                patience.renew()
                yield item
        except ConnectionLost as fault:
            patience.wait(fault)
        else:
            return

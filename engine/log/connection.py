"""The common part of connections to both databases: one thread at a time, and transactions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from ..errors import LogUnavailable
from .location import Location


class SharedConnection(ABC):
    """A connection that threads take turns with.

    :param read_only: refuse to write.
    :ivar patient: what is read waits while the database restarts, in place of an error at once.
    """

    def __init__(self, location: Location, *, read_only: bool) -> None:
        self.location = location
        self.read_only = read_only
        self.patient = False
        self._lock = RLock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock this connection for one thread."""
        with self._lock:
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the log for writing: commit at the end, roll back on any exception."""
        if self.read_only:
            raise LogUnavailable("the log was opened for reading only", where=self.location.shown)
        with self._transaction(writing=True):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read from one snapshot of the log."""
        with self._transaction(writing=False):
            yield

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[None]:
        with self._lock:
            try:
                self._begin(writing=writing)
                yield
                self._commit()
            # Any exception, or an interrupted append would keep the lock.
            except BaseException:
                self._roll_back()
                raise

    @abstractmethod
    def _begin(self, *, writing: bool) -> None:
        """Begin a transaction; one for writing locks out other writers."""

    @abstractmethod
    def _commit(self) -> None:
        """Commit the transaction."""

    @abstractmethod
    def _roll_back(self) -> None:
        """Roll back the transaction, if there still is one."""

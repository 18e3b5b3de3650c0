"""What connections to both databases have in common: one thread at a time, and transactions."""

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
    """

    def __init__(self, location: Location, *, read_only: bool) -> None:
        self.location = location
        self.read_only = read_only
        self._lock = RLock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads from this connection."""
        with self._lock:
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the log for writing alone: commit at the end, roll back on any exception."""
        if self.read_only:
            raise LogUnavailable("the log was opened for reading only", where=self.location.shown)
        with self._transaction(writing=True):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold one unchanging view of the log."""
        with self._transaction(writing=False):
            yield

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[None]:
        with self._lock:
            try:
                self._begin(writing=writing)
                yield
                self._commit()
            except BaseException:
                self._roll_back()
                raise

    @abstractmethod
    def _begin(self, *, writing: bool) -> None:
        """Begin a transaction; one for writing shuts out all other writers."""

    @abstractmethod
    def _commit(self) -> None:
        """End the transaction; what it wrote stays."""

    @abstractmethod
    def _roll_back(self) -> None:
        """End the transaction if there is one still; what it wrote is gone."""

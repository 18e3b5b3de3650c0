"""One open log that the threads of a server share, with what it keeps in memory.

A log may be used by several threads at once. With one for all, what one question found serves the
next one in any thread, and nothing is kept twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...engine.errors import LogError
from ...engine.log.location import Location
from ..facade.log import Log


class SharedLog:
    """A log that is opened when it is first needed, and again after the file was replaced.

    :param location: of the log. :param open_log: opens it.
    """

    def __init__(self, location: Location, open_log: Callable[[], Log]) -> None:
        self._location, self._open_log = location, open_log
        self._lock = threading.Lock()
        self._current: _Opened | None = None

    @contextmanager
    def used(self) -> Iterator[Log]:
        """Lend the log; after an error of the log, the next question opens it again."""
        opened = self._begin()
        try:
            yield opened.log
        except LogError:
            with self._lock:
                self._drop(opened)
            raise
        finally:
            self._end(opened)

    def close(self) -> None:
        """Close the log as soon as no question uses it."""
        with self._lock:
            if self._current is not None:
                self._drop(self._current)

    def _begin(self) -> _Opened:
        with self._lock:
            current = self._current
            if current is not None and current.stamp != _stamp(self._location):
                self._drop(current)  # The file was replaced or deleted.
                current = None
            if current is None:
                current = self._current = _Opened(self._open_log(), _stamp(self._location))
            current.users += 1
            return current

    def _end(self, opened: _Opened) -> None:
        with self._lock:
            opened.users -= 1
            # One that was dropped closes with its last user, as no question will begin on it.
            if opened is not self._current:
                opened.close_if_unused()

    def _drop(self, opened: _Opened) -> None:
        """Let no further question use an open log."""
        if opened is self._current:
            self._current = None
        opened.close_if_unused()


class _Opened:
    """An open log, and how many questions use it."""

    def __init__(self, log: Log, stamp: object) -> None:
        self.log, self.stamp, self.users = log, stamp, 0

    def close_if_unused(self) -> None:
        """Close it, unless a question uses it still."""
        if not self.users:
            with suppress(LogError):  # It may be broken, which is why it is dropped.
                self.log.close()


def _stamp(location: Location) -> object:
    """Return what changes if another file takes the place of a log; None for a server's."""
    if location.database != "sqlite":
        return None
    try:
        status = Path(location.path).stat()
    except OSError:
        return "gone"
    return status.st_dev, status.st_ino

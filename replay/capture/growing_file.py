"""A file that grows, as a stream that waits at its end; a rotation ends it.

Programs that rotate a log rename it and begin another one: its inode changes. What was written to
the old one until then is read first. A file that becomes shorter was emptied in place, and what was
written just before is lost.
"""

from __future__ import annotations

import io
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_PIECE = 2**16
_POLL = 0.25
"""Seconds between two looks at a file that did not grow."""

_LONGEST_HEAD = 2**16


class GrowingFile(io.RawIOBase):
    """One file, from its begin to its rotation.

    :param arrived: called with the number of bytes that were read.
    :param paused: called when all lines that are there were read.
    :param stop: ends the stream, after what is there.
    :ivar emptied: it became shorter, so lines may be lost.
    """

    def __init__(
        self,
        raw: BinaryIO,
        path: Path,
        *,
        arrived: Callable[[int], None],
        paused: Callable[[], None],
        stop: threading.Event,
    ) -> None:
        super().__init__()
        self._raw, self._path, self._stop = raw, path, stop
        self._arrived, self._paused = arrived, paused
        self._rest = b""
        self._lines: list[bytes] = []
        self._ended = False
        self.emptied = False

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def head(self) -> bytes:
        """Return the whole lines at the begin, as soon as there is one; empty if it ended before.

        The stream still begins with them.
        """
        line = self.readline()
        if not line:
            return b""
        self._lines.append(line)
        return b"".join(reversed(self._lines))[:_LONGEST_HEAD]

    def readline(self, size: int | None = -1, /) -> bytes:  # noqa: ARG002 -- lines come whole
        """Return the next line, and wait for it; empty at the end."""
        while not self._lines and not self._ended:
            self._fill()
        return self._lines.pop() if self._lines else b""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next line, as :meth:`readline`."""
        return self.readline(size)

    def _fill(self) -> None:
        """Read what is there; at the end, wait, or notice that the file was rotated."""
        if self._read_on():
            return
        self._paused()
        if not (self._was_rotated() or self._stop.is_set()):
            self._stop.wait(_POLL)
        # Once more: it may have been written to between the last read and the rotation.
        elif not self._read_on():
            self._ended = True
            if self._rest:  # The last line of a file that nothing is written to any more.
                self._lines, self._rest = [self._rest], b""

    def _read_on(self) -> bool:
        piece = self._raw.read(_PIECE)
        if not piece:
            return False
        self._arrived(len(piece))
        *lines, self._rest = (self._rest + piece).split(b"\n")
        self._lines = [line + b"\n" for line in reversed(lines)]
        return True

    def _was_rotated(self) -> bool:
        if self._is_pipe():
            return True  # At the end of a pipe, its writer has closed it.
        now = os.fstat(self._raw.fileno())
        if now.st_size < self._raw.tell():
            self.emptied = True
            return True
        try:
            there = self._path.stat()
        except OSError:
            return False  # Between the two steps of a rotation.
        return (there.st_dev, there.st_ino) != (now.st_dev, now.st_ino)

    def _is_pipe(self) -> bool:
        return not stat.S_ISREG(os.fstat(self._raw.fileno()).st_mode)

"""Receiving times: files beside watch streams that say when each line was received.

``watch-pods.recv`` belongs to ``watch-pods.jsonl`` (``.json``, ``.jsonl.gz`` …) in the same folder,
on disk or in an archive, and may be compressed. It has one time for each line of that file, in
seconds since 1970 UTC with a fraction. Lines that begin with ``#`` are comments and do not count. A
program that records a watch can write such a file; it shows by when each change had happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...kubernetes.units import SECOND_US
from ..reading.inputs import InputFile, documents

SUFFIX = ".recv"

_MOST_BYTES = 32 * 2**20
_COMPRESSED = (".gz", ".xz", ".zst", ".bz2")
_LAST_SECOND = 253_402_300_799
"""The end of the year 9999."""

_LONGEST_LINE = 256
"""Bytes of a line; a time has about twenty."""


class Received(msgspec.Struct, frozen=True):
    """When the lines of a document were received.

    :param times: microseconds, in the order of the lines. :param path: of the file with them;
        empty if there is none. :param fault: why it is not used; empty if it is.
    """

    times: npt.NDArray[np.int64]
    path: str = ""
    fault: str = ""


NOTHING = Received(np.empty(0, np.int64))


class ReceivingTimes:
    """The receiving times of the documents of one file, read when they are first needed.

    An archive is searched once for all of them, because times may come after their document.

    :param file: one on disk; standard input cannot be read twice, and has none.
    """

    def __init__(self, file: InputFile) -> None:
        self._file = file
        self._members: dict[str, Received] | None = None
        self._described: set[str] = set()

    def of(self, source: str) -> Received:
        """Return the receiving times of a document, none if no file beside it has them.

        :param source: path of the document, or ``archive!member``.
        """
        if source != self._file.path:
            return self._in_archive().get(_times_name(source), NOTHING)
        name = _times_name(source)
        for suffix in ("", *_COMPRESSED) if name else ():
            if Path(name + suffix).is_file():
                return _read(name + suffix)
        return NOTHING

    def belongs_to_another(self, source: str) -> bool:
        """Say whether a document has the receiving times of another one beside it."""
        name = _uncompressed(source)
        if not name.endswith(SUFFIX):
            return False
        if source != self._file.path:
            self._in_archive()
            return name in self._described
        try:
            neighbours = [str(path) for path in Path(source).parent.iterdir() if path.is_file()]
        except OSError:
            return False
        return any(_times_name(path) == str(Path(name)) for path in neighbours)

    def _in_archive(self) -> dict[str, Received]:
        if self._members is None:
            # Before the archive is read: one that cannot be read is not read again for each
            # document.
            self._members = {}
            with suppress(InputError):  # The caller that reads the documents raises the same error.
                self._members.update(self._found())
        return self._members

    def _found(self) -> Iterator[tuple[str, Received]]:
        if not self._file.size:
            return
        for document in documents(self._file):
            name = _uncompressed(document.source)
            if name.endswith(SUFFIX):
                yield name, _times_in(document.stream, document.source)
            else:
                self._described.add(_times_name(document.source))


def _read(path: str) -> Received:
    """Return the times in a file on disk, which may be compressed."""
    try:
        for document in documents(InputFile(path, named=True, size=Path(path).stat().st_size)):
            return _times_in(document.stream, path)
    except (OSError, InputError) as fault:
        return Received(NOTHING.times, path, str(fault))
    return NOTHING


def _times_in(stream: BinaryIO, path: str) -> Received:
    try:
        seconds = np.fromiter(_seconds(stream), np.float64)
    except (InputError, ValueError) as fault:
        return Received(NOTHING.times, path, str(fault))
    if not ((seconds > 0) & (seconds < _LAST_SECOND)).all():
        return Received(NOTHING.times, path, "a line is not a time in seconds since 1970")
    return Received(np.rint(seconds * SECOND_US).astype(np.int64), path)


def _seconds(stream: BinaryIO) -> Iterator[float]:
    begins = True
    comment = False
    length = 0
    while line := stream.readline(_LONGEST_LINE):
        length += len(line)
        if length > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES // 2**20} MiB")
        # Only the first piece of a long comment begins with the mark.
        comment = line.startswith(b"#") if begins else comment
        begins = line.endswith(b"\n")
        if comment or not line.strip():
            continue
        if not begins and len(line) == _LONGEST_LINE:
            raise ValueError("a line is too long to be a time")
        yield float(line.decode("ascii"))


def _uncompressed(source: str) -> str:
    for suffix in _COMPRESSED:
        if source.endswith(suffix):
            return source.removesuffix(suffix)
    return source


def _times_name(source: str) -> str:
    """Return the name of a file with the times of a document; empty if there can be none."""
    stem = _uncompressed(source)
    start = max(stem.rfind("/"), stem.rfind("!")) + 1
    base, dot, suffix = stem[start:].rpartition(".")
    return f"{stem[:start]}{base}{SUFFIX}" if base and f"{dot}{suffix}" != SUFFIX else ""

"""A file that grows, followed by one thread: an audit log, a component's log, a recorded watch."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import BinaryIO, cast

from ...engine.errors import FormatUnknown, UsageError
from ...engine.events.storable import printable
from ...engine.ingest.format_registry import recognise
from ...engine.ingest.reading.formats import Context, Format
from ...engine.ingest.reading.klog import HEADER
from ...engine.kubernetes.units import month_of, year_of
from .event_taker import EventTaker
from .growing_file import GrowingFile
from .outbox import Outbox, Room
from .stream_state import StreamPhase, StreamState, WaitCause
from .stream_thread import StreamThread

FOLLOWED = ("audit-log", "klog", "watch-stream")
"""The formats of files that are followed: those with one record a line."""

STDIN = "-"
_GROW_SECONDS = 10.0
_LOOK = 1.0
"""Seconds between two looks for a file that is not there."""


class FollowedFile(StreamThread):
    """Follows one file until it is stopped, across rotations; it is read from its begin.

    What the log has of it already is known there, so nothing is stored twice.

    :param path: ``-`` is standard input, which ends.
    """

    def __init__(
        self,
        path: str,
        outbox: Outbox,
        *,
        cluster: str,
        now: Callable[[], int],
        redact: bool = False,
        source: str = "",
    ) -> None:
        self.source = source or ("standard input" if path == STDIN else printable(path))
        state = StreamState(resource=self.source, may_be_silent=True)
        super().__init__(f"follow:{path}", state, outbox)
        self._path, self._cluster, self._now = path, cluster, now
        self._taker = EventTaker(outbox, self.state, redact=redact)
        self._halt = threading.Event()
        self._context = Context(source=self.source)
        self._grown_at = monotonic()
        self._covers = True

    def stop(self) -> None:
        """End soon, after what is there."""
        self._halt.set()

    def read(self) -> None:
        """Follow the file until it is stopped, or cannot be read."""
        while not self._halt.is_set():
            self._follow_one()
            if self._path == STDIN:
                break

    def _follow_one(self) -> None:
        """Follow the file that is there now until it is rotated."""
        try:
            raw = _opened(self._path)
        except OSError as fault:
            self._waits(fault)
            self._halt.wait(_LOOK)
            return
        with raw:
            stream = GrowingFile(
                raw,
                Path(self._path),
                arrived=self._heard,
                paused=self._paused,
                stop=self._halt,
            )
            self.state.phase = StreamPhase.WATCHING
            self.state.forget_fault()
            head = stream.head()
            if head:
                self._read(stream, head)
        self.state.reconnects += 1
        if stream.emptied:
            # Nothing shows what was written just before, so nothing is claimed from here on.
            self.state.holes += 1
            self._covers = False

    def _waits(self, fault: OSError) -> None:
        """Note why there is nothing to read yet."""
        what, now = "there is no such file", "it is read when it appears"
        if not isinstance(fault, FileNotFoundError):
            what = f"it cannot be opened: {(fault.strerror or '').lower()}"
            now = "let this user read the file"
        self.state.wait(WaitCause(what, str(Path(printable(self._path)).absolute()), now))

    def _read(self, stream: GrowingFile, head: bytes) -> None:
        context = self._context = Context(
            source=self.source,
            cluster=self._cluster,
            grows=True,
            year=_first_year(head, self._now()),
            skip_malformed=True,
        )
        for event in _format_of(head, self.source).events(cast("BinaryIO", stream), context):
            self._taker.take(event, context)
        self._cover()
        self._taker.account(context)

    def _heard(self, size: int) -> None:
        self.state.heard_at = self._now()
        self.state.bytes += size

    def _paused(self) -> None:
        """Say what is covered, now and then; called when all lines that are there were read."""
        if monotonic() - self._grown_at >= _GROW_SECONDS:
            self._context.grow()
            self._cover()

    def _cover(self) -> None:
        self._grown_at = monotonic()
        if not self._covers:
            self._context.spans = []
        self._taker.cover(self._context)


def _opened(path: str) -> BinaryIO:
    """Return a file without a buffer, which would hold back the last line."""
    if path == STDIN:
        return cast("BinaryIO", io.FileIO(sys.stdin.fileno(), closefd=False))
    return cast("BinaryIO", io.FileIO(path))


def check_folders(paths: Iterable[str]) -> None:
    """Look for the folders of files that may appear later.

    :raises UsageError: there is no such folder, so that none will.
    """
    for path in paths:
        if path != STDIN and not Path(path).parent.is_dir():
            raise UsageError(
                f"there is no folder {printable(str(Path(path).parent))!r}",
                where=printable(path),
                now="check the path: a file that is not there yet is waited for, a folder is not",
            )


def followed_files(
    paths: Mapping[str, Sequence[str]],
    room: Room,
    *,
    cluster: str,
    now: Callable[[], int],
    redact: bool = False,
) -> list[FollowedFile]:
    """Return what follows files; one that is named twice is read once.

    :param paths: by component, ``scheduler`` or ``controllers``; by ``""`` where the name of a
        file says enough. :param room: what may wait to be stored.
    """
    return [
        FollowedFile(
            path,
            Outbox(room),
            cluster=cluster,
            now=now,
            redact=redact,
            source=component_source(path, component),
        )
        for component, of_component in paths.items()
        for path in dict.fromkeys(of_component)
    ]


def component_source(path: str, component: str) -> str:
    """Return the name of a component's log in events; readers know the component by it.

    :param component: ``scheduler`` or ``controllers``; empty if the name of the file says enough.
    """
    name = "standard input" if path == STDIN else printable(path)
    known = component[:5] in name.rpartition("/")[2].lower()
    return name if known else f"{name} ({component})"


def _format_of(head: bytes, source: str) -> Format:
    """Return the format of a file.

    :raises FormatUnknown: it is of none that is followed.
    """
    form = recognise(head, source)
    if form is None or form.name not in FOLLOWED:
        raise FormatUnknown(
            "cannot be followed: "
            + (
                "no format knows its first lines"
                if form is None
                else f"it is of format {form.name}"
            ),
            where=source,
            now=f"what can be followed: {', '.join(FOLLOWED)}; ingest other files without --follow",
        )
    return form


def _first_year(head: bytes, now: int) -> int:
    """Return the year of the first line of a log without years: its month is not in the future."""
    year, month = year_of(now), month_of(now)
    for line in head.split(b"\n"):
        if header := HEADER.match(line):
            return year - 1 if int(header[2]) > month else year
    return year

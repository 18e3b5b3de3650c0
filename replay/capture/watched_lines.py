"""The lines of one kind's watch, for as long as a recorder runs.

It lists, watches, and connects again where a connection ends. A reader sees one stream: a
connection that was resumed leaves no trace in it, and one that could not be is an ERROR line,
after which the stream begins with a list.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from types import MappingProxyType
from typing import NamedTuple, Protocol

import msgspec

from ...engine.errors import PlinianError
from ...engine.ingest.reading.json_text import DECODE_FAULTS
from .cluster_access import (
    FIRST_SECONDS,
    READ_SECONDS,
    Access,
    Body,
    ServerRefusal,
    Stalled,
    Unreachable,
)
from .hole_repair import EXPIRED, Repair, Unseen, repaired
from .recorded_kinds import RecordedKind
from .served_kinds import (
    ServedKind,
    bookmark_line,
    error_line,
    exactly,
    list_lines,
    served_kind,
)
from .stream_state import NOT_SERVED, StreamPhase, StreamState, WaitCause

_ERROR = b'{"type":"ERROR"'
_REFUSES_STREAMED_LISTS = frozenset({400, 422})
_STREAMED_LIST: Mapping[str, str] = MappingProxyType(
    {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
)
_NOT_FOUND = 404
_UNKNOWN = frozenset({401, 403, 404})
"""Answers that do not change soon."""

_OLDEST_EXPIRED = "the server no longer has the revision from which the watch would continue"


class Pace(NamedTuple):
    """How long things take, in seconds.

    :param watch: the longest watch; the server ends it then.
    :param quiet: nothing for so long, not even a bookmark, and the connection counts as dead.
    :param first_wait: before a request that failed is repeated; doubled up to ``longest_wait``.
    :param absent: before a kind that the cluster lacks is looked for again.
    :param again: before the list is read again as long as it, or a change, cannot be read.
    """

    watch: int = 480
    quiet: float = 100.0
    first_wait: float = 0.5
    longest_wait: float = 30.0
    absent: float = 60.0
    again: float = 300.0


class CaughtUp(Protocol):
    """Called when all lines that have arrived were taken."""

    def __call__(self, *, pauses: bool) -> int | None:
        """Return the revision up to which everything was read.

        None if the list is not whole yet, or if that was not looked at.

        :param pauses: nothing more may come for a while.
        """


class Hearing(NamedTuple):
    """What a stream calls while it reads.

    :param found: called with a repair that did not find everything, before the stream goes on.
    :param now: microseconds since 1970.
    """

    between: CaughtUp
    found: Callable[[Repair], None]
    now: Callable[[], int]


class _Expired(Exception):
    """The server no longer has the revision of a watch or of a list."""


class WatchedLines:
    """The lines of one kind, read by one thread.

    :param since: the revision from which to continue; None to begin with a list.
    :param namespace: empty for all.
    """

    def __init__(
        self,
        access: Access,
        kind: RecordedKind,
        state: StreamState,
        hearing: Hearing,
        *,
        namespace: str = "",
        since: int | None = None,
        pace: Pace = Pace(),  # noqa: B008 -- a tuple
    ) -> None:
        self._access, self._kind, self._state, self._hearing = access, kind, state, hearing
        self._namespace, self._pace = namespace, pace
        self._revision = since
        self._served: ServedKind | None = None
        self._stop = threading.Event()
        self._body: Body | None = None
        self._streams_lists = True
        # Where to list next: None for now. Lines of a list that is not whole were yielded.
        self._list_at: int | None = None
        self._in_list = False
        self._silent = self._tried = False
        self._wait = pace.first_wait
        # Records that could not be read when the list was read again for their sake, and when.
        self._malformed = self._expected = 0
        self._again_at: float | None = None

    def stop(self) -> None:
        """End the stream soon; called by another thread."""
        self._stop.set()
        body = self._body
        if body is not None:
            body.close()

    def lines(self) -> Iterator[bytes]:
        """Yield line after line until the stream is stopped.

        :raises EpochFell: the revisions of the cluster fell.
        """
        while not self._stop.is_set():
            try:
                if self._served is None and not self._is_served():
                    continue
                yield from self._connected()
            except _Expired:
                yield from self._after_expiry()
            except ServerRefusal as fault:
                # A server that has just started refuses for a moment what it will allow.
                slow = fault.code in _UNKNOWN and self._revision is None
                self._failed(fault, fault.retry_after, slow=slow)
                if fault.code == _NOT_FOUND:
                    self._served = None
            except Unreachable as fault:
                self._failed(fault)
            if self._in_list and not self._stop.is_set():
                # The reader must not take the pieces of two lists for one.
                yield error_line(0, "Interrupted", "the list was cut off, and begins again")
                self._in_list = False
        self._state.phase = StreamPhase.STOPPED

    def _is_served(self) -> bool:
        # The first try is short, so that a silence is said soon; a slow server gets its time then.
        quiet = READ_SECONDS if self._state.fault or self._state.answered else FIRST_SECONDS
        self._served = served_kind(self._access, self._kind, quiet=quiet)
        self._state.answered = True
        if self._served is None:
            self._state.phase, self._state.fault = StreamPhase.ABSENT, NOT_SERVED
            self._stop.wait(self._pace.absent)
        return self._served is not None

    def _connected(self) -> Iterator[bytes]:
        """List if nothing is known yet, and follow one watch until it ends."""
        if self._must_list_again():
            self._expect_again()
            yield error_line(0, "Unreadable", "a record could not be read: the list begins again")
            self._revision = self._list_at = None
        if self._revision is None:
            self._state.phase = StreamPhase.LISTING
            if self._list_at is None and self._streams_lists:
                try:
                    yield from self._followed(_STREAMED_LIST)
                except ServerRefusal as fault:
                    if fault.code not in _REFUSES_STREAMED_LISTS:
                        raise
                    self._streams_lists = False
                return
            yield from self._listed({} if self._list_at is None else exactly(self._list_at))
            if self._must_list_again():
                return
        yield from self._followed({"resourceVersion": str(self._revision)})

    def _must_list_again(self) -> bool:
        """Return whether a record could not be read, and it is time for another list.

        After such a record nothing is known completely until there is a list.
        """
        if self._revision is None or self._state.malformed == self._malformed:
            return False
        return self._again_at is None or monotonic() - self._again_at >= self._pace.again

    def _expect_again(self) -> None:
        """Begin the list again: it is expected to show again what could not be read."""
        state = self._state
        self._expected = state.malformed - self._malformed
        state.repeated += self._expected
        self._malformed, self._again_at = state.malformed, monotonic()

    def _listed(self, query: Mapping[str, str]) -> Iterator[bytes]:
        """Yield a list in pages, and its end."""
        assert self._served is not None, "lines() looks for the kind first"
        self._list_at = None
        try:
            for line in list_lines(self._access, self._served, self._namespace, query):
                self._in_list = True
                self._heard(len(line))
                yield line
        except ServerRefusal as fault:
            if fault.code != EXPIRED:
                raise
            # A token of a page that expired: the list begins again.
            raise Unreachable("the list took longer than the server keeps its pages") from fault
        self._reach(pauses=True)

    def _followed(self, query: Mapping[str, str]) -> Iterator[bytes]:
        """Yield the lines of one watch until the server ends it."""
        assert self._served is not None, "lines() looks for the kind first"
        options = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._pace.watch),
            **query,
        }
        path = self._served.path(self._namespace)
        try:
            body = self._body = self._access.open(path, options, quiet=self._pace.quiet)
        except ServerRefusal as fault:
            if fault.code == EXPIRED:
                raise _Expired from fault
            raise
        if self._revision is not None:
            self._watches()
        self._silent = True
        try:
            if not self._stop.is_set():  # It may have been just before there was a body to close.
                yield from self._lines_of(body)
        except Stalled:
            # A server that does not know the revision yet says nothing at all.
            if self._silent and self._revision is not None:
                raise _Expired from None
            raise
        finally:
            self._body = None
            body.close()
            self._state.reconnects += 1
            self._reach(pauses=True)
            if self._revision is None:
                # It broke off, or the server does not know the option: pages have an end.
                self._streams_lists = False
        if self._silent:
            self._pause()

    def _lines_of(self, body: Body) -> Iterator[bytes]:
        rest = b""
        for chunk in body.chunks():
            self._heard(len(chunk))
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line.startswith(_ERROR):
                    raise _error_in(line)
                self._in_list = self._revision is None
                yield line + b"\n"
            if lines:
                self._silent = self._tried = False
                self._wait = self._pace.first_wait
                self._state.forget_fault()
                self._reach(pauses=self._revision is None)
            if self._stop.is_set() or self._must_list_again():
                return

    def _reach(self, *, pauses: bool) -> None:
        """Note how far the reader has come; all lines so far were taken."""
        reached = self._hearing.between(pauses=pauses)
        if reached is None:
            return
        state = self._state
        self._revision = state.revision = reached
        # What the list did not show again was not repeated.
        state.repeated -= max(self._expected - (state.malformed - self._malformed), 0)
        self._expected = 0
        self._in_list = False
        if self._state.phase is StreamPhase.LISTING:
            self._watches()

    def _watches(self) -> None:
        self._state.listed, self._state.phase = True, StreamPhase.WATCHING
        self._state.forget_fault()

    def _after_expiry(self) -> Iterator[bytes]:
        """Try once more, as another server may still have the revision; then fill the hole."""
        self._state.expired += 1
        if self._revision is not None and not self._tried:
            self._tried = True
            return
        # A server may answer each request so; then this is all that happens.
        self._pause()
        if self._revision is None or self._stop.is_set():
            return
        assert self._served is not None, "something was watched before"
        self._state.phase = StreamPhase.REPAIRING
        try:
            repair = repaired(self._access, self._served, self._namespace, self._revision)
        except (ServerRefusal, Unreachable) as fault:
            self._failed(fault)
            return
        self._tried = False
        if repair.unseen is Unseen.NOTHING:
            self._state.repaired += 1
            yield from repair.lines
            yield bookmark_line(self._served, repair.until)
            self._reach(pauses=True)
            return
        self._state.holes += 1
        self._hearing.found(repair)
        yield error_line(EXPIRED, "Expired", _OLDEST_EXPIRED)
        # As of where the repair ended, so that nothing is between it and the list.
        self._revision, self._list_at = None, repair.until

    def _pause(self) -> None:
        """Wait before the next try, longer each time until something comes."""
        wait, self._wait = self._wait, min(self._wait * 2, self._pace.longest_wait)
        self._stop.wait(wait)

    def _failed(
        self, fault: PlinianError, after: float | None = None, *, slow: bool = False
    ) -> None:
        """Wait before the next try: as long as the server asks, else longer each time."""
        if self._stop.is_set():
            return
        self._state.wait(WaitCause(fault.what, fault.where, fault.now))
        wait = self._pace.longest_wait if slow else self._wait
        self._wait = min(self._wait * 2, self._pace.longest_wait)
        self._stop.wait(max(wait, min(after or 0.0, self._pace.longest_wait)))

    def _heard(self, size: int) -> None:
        self._state.heard_at = self._hearing.now()
        self._state.bytes += size


class _Refusal(msgspec.Struct):
    code: int = 0
    reason: str = ""
    message: str = ""


class _ErrorLine(msgspec.Struct):
    object: _Refusal


def _error_in(line: bytes) -> Exception:
    """Return what an ERROR line means."""
    try:
        status = msgspec.json.decode(line, type=_ErrorLine).object
    except DECODE_FAULTS:
        status = _Refusal()
    if status.code == EXPIRED or status.reason == "Expired":
        return _Expired()
    what = status.message or status.reason or "the server ended the watch with an error"
    return ServerRefusal(status.code, what, retry_after=None)

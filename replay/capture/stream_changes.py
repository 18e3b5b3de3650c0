"""What changed between two looks at a recorder: one line each, and one for the whole start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from time import monotonic
from typing import Literal, NamedTuple

import msgspec

from .recorder import Recording
from .stream_state import StreamPhase, StreamState, WaitCause

Weight = Literal["debug", "info", "warning", "error"]

_SETTLED = frozenset(
    {StreamPhase.WATCHING, StreamPhase.WAITING, StreamPhase.ABSENT, StreamPhase.STOPPED}
)
_IT_GOES_ON = "it tries again by itself"
_FELL = "the revisions of the cluster fell: another epoch of it begins"
_RESTORED = "its etcd was restored from a backup; its history before has another name in the log"


class StreamChange(NamedTuple):
    """A change. :param event: a sentence. :param fields: what it is about, and what to do now."""

    weight: Weight
    event: str
    fields: Mapping[str, str | int]


class _Waiting(msgspec.Struct):
    """The streams that wait for one cause.

    :param since: when the first did, by the clock. :param names: also of those that wait no more.
    """

    since: float
    names: set[str]
    still: set[str]
    is_said: bool = False


class StreamChanges:
    """Remembers how streams were, and says what changed.

    :param held: seconds in which streams that wait for the same cause become one line.
    """

    def __init__(self, held: float = 1.0, clock: Callable[[], float] = monotonic) -> None:
        self._held, self._clock = held, clock
        self._causes: dict[WaitCause, _Waiting] = {}
        self._epochs = 0
        self._before: dict[str, StreamState] = {}
        # By stream, what was said last of what it does, and how many records it could not read.
        self._doing: dict[str, tuple[StreamPhase, str]] = {}
        self._lost: Counter[str] = Counter()
        self._unwritten = ""
        self._has_begun = False

    def since_last(self, recording: Recording) -> Iterator[StreamChange]:
        """Yield what changed since the last call.

        What streams do at the start is one line when each is watched, waits, or has no kind in the
        cluster; only faults are said before it.
        """
        if recording.epochs > self._epochs:
            self._epochs = recording.epochs
            self._lost.clear()
            yield StreamChange("warning", _FELL, {"epochs": recording.epochs, "now": _RESTORED})
        for state in recording.streams:
            now = msgspec.structs.replace(state)
            first = StreamState(resource=now.resource, namespace=now.namespace)
            before = self._before.get(now.name, first)
            self._before[now.name] = now
            yield from self._moved(now)
            for change in self._changes(before, now):
                is_first = not self._has_begun and change.weight == "info"
                yield change._replace(weight="debug") if is_first else change
        begins = not self._has_begun and all(now.phase in _SETTLED for now in self._before.values())
        yield from self._causes_due(at_once=begins)
        if begins:
            self._has_begun = True
            yield _begun(list(self._before.values()))
        yield from self._written(recording)

    def _changes(self, before: StreamState, now: StreamState) -> Iterator[StreamChange]:
        about = {"stream": now.name}
        said = _doing(now)
        waits = now.phase is StreamPhase.WAITING  # That is said for all that do so together.
        if (said is not None or waits) and self._is_news(now) and said is not None:
            yield said
        if now.repaired > before.repaired:
            yield StreamChange("info", "a hole was filled: nothing is missing", about)
        if now.holes > before.holes:
            yield StreamChange(
                "warning",
                "a hole remains: changes were missed that the server no longer shows",
                {**about, "now": "plinian status shows the hole; an audit log can fill it"},
            )
        if (lost := now.malformed - now.repeated) > self._lost[now.name]:
            self._lost[now.name] = lost
            yield StreamChange(
                "warning",
                "an object could not be read, and was left out",
                about | {"objects": lost},
            )

    def _is_news(self, now: StreamState) -> bool:
        """Return whether what a stream does was not said last.

        A stream that waits tries again all the time, and only how that ends is news.
        """
        doing = now.phase, now.fault if now.phase is StreamPhase.WAITING else ""
        last = self._doing.get(now.name, (StreamPhase.STARTING, ""))
        tries = now.phase is StreamPhase.REPAIRING and last[0] is StreamPhase.WAITING
        if tries or doing == last:
            return False
        self._doing[now.name] = doing
        return True

    def _moved(self, now: StreamState) -> Iterator[StreamChange]:
        """Note for which cause a stream waits, and say the one that it leaves."""
        cause = None
        if now.phase is StreamPhase.WAITING:
            cause = now.cause
        elif now.phase not in _SETTLED:
            return  # It tries again; nothing shows yet that the cause is gone.
        for other, waiting in list(self._causes.items()):
            if other == cause or now.name not in waiting.still:
                continue
            if not waiting.is_said:
                waiting.is_said = True
                yield _waits(other, waiting.names)
            waiting.still.discard(now.name)
            if not waiting.still:
                del self._causes[other]
        if cause is not None:
            waiting = self._causes.setdefault(cause, _Waiting(self._clock(), set(), set()))
            waiting.names.add(now.name)
            waiting.still.add(now.name)

    def _causes_due(self, *, at_once: bool) -> Iterator[StreamChange]:
        """Yield a line for each cause for which streams have waited for long enough."""
        for cause, waiting in self._causes.items():
            is_due = at_once or self._clock() - waiting.since >= self._held
            if is_due and not waiting.is_said:
                waiting.is_said = True
                yield _waits(cause, waiting.names)

    def _written(self, recording: Recording) -> Iterator[StreamChange]:
        """Say when the log cannot be written, and when it can again."""
        fault, before = recording.fault, self._unwritten
        self._unwritten = "" if fault is None else fault.what
        if fault is not None and fault.what != before:
            about: dict[str, str | int] = {"what": fault.what, "where": fault.where}
            about |= {"now": fault.now or _IT_GOES_ON, "waiting": recording.waiting}
            yield StreamChange("error", "the log cannot be written", about)
        elif fault is None and before:
            yield StreamChange(
                "info", "the log can be written again", {"waiting": recording.waiting}
            )


def _begun(states: Collection[StreamState]) -> StreamChange:
    """Sum up the start: how many are watched, and up to which revision all of these are."""
    counts = Counter(now.phase for now in states)
    fields: dict[str, str | int] = {"watched": counts[StreamPhase.WATCHING]}
    if waiting := counts[StreamPhase.WAITING]:
        fields["waiting"] = waiting
    if absent := counts[StreamPhase.ABSENT]:
        fields["absent"] = absent
    reached = [now.revision for now in states if now.phase is StreamPhase.WATCHING]
    known = [revision for revision in reached if revision is not None]
    if known:
        fields["revision"] = min(known)
    if not fields["watched"]:
        said = "no stream is watched yet"
    else:
        said = "streams are watched, and some wait" if waiting else "all streams are watched"
    return StreamChange("info", said, fields)


def _doing(now: StreamState) -> StreamChange | None:
    """Return what to say of what a stream does; None where that is nothing yet."""
    about: dict[str, str | int] = {"stream": now.name}
    if now.revision is not None:
        about["revision"] = now.revision
    match now.phase:
        case StreamPhase.WATCHING:
            return StreamChange("info", "a stream is watched", about)
        case StreamPhase.REPAIRING:
            return StreamChange("info", "a watch expired: what it missed is read now", about)
        case StreamPhase.ABSENT:
            return StreamChange("info", "the cluster does not have a kind", about)
        case StreamPhase.STOPPED:
            return StreamChange("info", "a stream ended", about)
        case _:
            return None


def _waits(cause: WaitCause, names: Collection[str]) -> StreamChange:
    """Say why streams wait: one by its name, more by their number."""
    only = next(iter(names)) if len(names) == 1 else ""
    about: dict[str, str | int] = {"stream": only} if only else {"streams": len(names)}
    about |= {"what": cause.what, "where": cause.where}
    about["now"] = f"{cause.now}; {_IT_GOES_ON}" if cause.now else _IT_GOES_ON
    said = "a stream waits before it tries again" if only else "streams wait before they try again"
    return StreamChange("warning", said, about)

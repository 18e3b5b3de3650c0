"""What changed between two looks at a recorder: one line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

import msgspec

from .recorder import Recording
from .stream_state import StreamPhase, StreamState

Weight = Literal["info", "warning", "error"]


class StreamChange(NamedTuple):
    """A change. :param event: a sentence. :param fields: what it is about, and what to do now."""

    weight: Weight
    event: str
    fields: Mapping[str, str | int]


class StreamChanges:
    """Remembers how streams were, and says what changed."""

    def __init__(self) -> None:
        self._before: dict[str, StreamState] = {}

    def since_last(self, recording: Recording) -> Iterator[StreamChange]:
        """Yield what changed since the last call."""
        for state in recording.streams:
            now = msgspec.structs.replace(state)
            before = self._before.get(now.name, StreamState(resource=now.resource))
            self._before[now.name] = now
            yield from _changes(before, now)


def _changes(before: StreamState, now: StreamState) -> Iterator[StreamChange]:
    about = {"stream": now.name}
    if now.phase is not before.phase and (said := _phase(now)) is not None:
        yield said
    elif now.phase is StreamPhase.WAITING and now.fault != before.fault:
        yield StreamChange("warning", "a stream waits before it tries again", _waits(now))
    if now.repaired > before.repaired:
        yield StreamChange("info", "a hole was filled: nothing is missing", about)
    if now.holes > before.holes:
        yield StreamChange(
            "warning",
            "a hole remains: changes were missed that the server no longer shows",
            {**about, "now": "plinian status shows the hole; an audit log can fill it"},
        )
    if now.malformed > before.malformed:
        yield StreamChange(
            "warning",
            "an object could not be read, and was left out",
            {**about, "objects": now.malformed},
        )


def _phase(now: StreamState) -> StreamChange | None:
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
        case StreamPhase.WAITING:
            return StreamChange("warning", "a stream waits before it tries again", _waits(now))
        case _:
            return None


def _waits(now: StreamState) -> dict[str, str | int]:
    return {"stream": now.name, "fault": now.fault, "now": "it tries again by itself"}

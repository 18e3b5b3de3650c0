"""When a probe finds that a recorder records."""

from __future__ import annotations

import pytest

from plinian.engine.errors import ConnectionLost
from plinian.replay.capture.commit_writer import Committed
from plinian.replay.capture.readiness import HEARD_WITHIN, STORED_WITHIN, unready
from plinian.replay.capture.recorder import Recording
from plinian.replay.capture.stream_state import StreamPhase, StreamState

NOW = 1_800_000_000_000_000


def _heard(name: str, seconds: float, **more: object) -> StreamState:
    state = StreamState(resource=name, heard_at=NOW - int(seconds * 1e6))
    for field, value in {"phase": StreamPhase.WATCHING, **more}.items():
        setattr(state, field, value)
    return state


def _why(*streams: StreamState, waiting: int = 0, oldest: float = 0.0) -> list[str]:
    fault = ConnectionLost("the server went away") if oldest > 60 else None
    recording = Recording(streams, Committed(), waiting, 0, fault, oldest)
    return list(unready(recording, now=NOW))


def test_it_is_ready_while_all_streams_are_heard_and_events_are_stored() -> None:
    assert _why(_heard("pods", HEARD_WITHIN - 1), waiting=3, oldest=STORED_WITHIN - 1) == []


def test_a_stream_that_was_never_heard_is_no_record_and_one_without_a_kind_is_no_fault() -> None:
    forbidden = StreamState(resource="pods", phase=StreamPhase.WAITING, fault="it is forbidden")
    absent = StreamState(resource="queues", phase=StreamPhase.ABSENT)
    file = StreamState(resource="scheduler.log", may_be_silent=True)
    assert _why(forbidden, absent, file) == ["pods: nothing was heard yet: it is forbidden"]


@pytest.mark.parametrize("fault", ["", "connection refused"])
def test_a_stream_that_is_silent_for_long_is_named(fault: str) -> None:
    said = "pods: nothing was heard for 200 s" + (f": {fault}" if fault else "")
    assert _why(_heard("pods", 200, fault=fault), _heard("nodes", 1)) == [said]


def test_events_that_wait_for_long_are_counted() -> None:
    assert _why(waiting=7, oldest=11) == ["7 events wait to be stored, the first of them for 11 s"]
    assert _why(waiting=7, oldest=70)[0].endswith("for 70 s: the server went away")

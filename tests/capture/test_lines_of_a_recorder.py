"""What a recorder writes to who collects its lines: one for its start, then one a change."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from plinian.engine.errors import ConnectionLost
from plinian.replay.capture.commit_writer import Committed
from plinian.replay.capture.recorder import Recording
from plinian.replay.capture.stream_changes import StreamChanges
from plinian.replay.capture.stream_state import StreamPhase, StreamState
from plinian.replay.server.server_lines import logger_to
from plinian.replay.server.settings import ServerSettings

PASSWORD = "correct-horse"
PLACE = f"postgresql://me:{PASSWORD}@db/volcano"


def _streams() -> list[StreamState]:
    return [StreamState(resource=name) for name in ("pods", "nodes", "queues")]


def _recording(streams: list[StreamState], fault: ConnectionLost | None = None) -> Recording:
    return Recording(streams, Committed(), 7, 0, fault)


@pytest.fixture(params=["text", "json"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _said(recordings: Callable[[], Iterator[Recording]], form: Any) -> list[str]:
    out = io.StringIO()
    logger, changes = (
        logger_to(out, ServerSettings(place=PLACE), form=form, level="info"),
        StreamChanges(held=0.0),
    )
    for recording in recordings():
        for change in changes.since_last(recording):
            getattr(logger, change.weight)(change.event, **change.fields)
    return out.getvalue().splitlines()


def _text(recordings: Callable[[], Iterator[Recording]]) -> list[str]:
    return [line.partition("Z ")[2] for line in _said(recordings, "text")]


def _members(recordings: Callable[[], Iterator[Recording]]) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in _said(recordings, "json")]
    for one in found:
        one.pop("time")
    return found


def _start() -> Iterator[Recording]:
    streams = _streams()
    yield _recording(streams)
    pods, nodes, queues = streams
    pods.phase, pods.revision = StreamPhase.WATCHING, 12
    yield _recording(streams)
    queues.phase = StreamPhase.ABSENT
    yield _recording(streams)
    nodes.phase, nodes.revision = StreamPhase.WATCHING, 10
    yield _recording(streams)
    yield _recording(streams)


def test_the_start_is_one_line() -> None:
    assert _text(_start) == ["all streams are watched (watched 2, absent 1, revision 10)"]
    assert _members(_start) == [
        {
            "level": "info",
            "event": "all streams are watched",
            "watched": 2,
            "absent": 1,
            "revision": 10,
        }
    ]


def _faulty() -> Iterator[Recording]:
    streams = _streams()
    for stream in streams:
        stream.phase, stream.revision = StreamPhase.WATCHING, 10
    pods = streams[0]
    pods.phase, pods.fault, pods.fault_at = StreamPhase.WAITING, "pods is forbidden", "GET /pods"
    yield _recording(streams)
    pods.phase, pods.fault = StreamPhase.WATCHING, ""
    yield _recording(streams)
    pods.phase, pods.fault = StreamPhase.WAITING, f"no route to https://a:{PASSWORD}@proxy"
    yield _recording(streams)
    pods.phase = StreamPhase.WATCHING
    pods.holes, pods.malformed = 1, 2
    yield _recording(streams)


def test_as_text_what_a_line_is_about_can_be_read() -> None:
    assert _text(_faulty) == [
        (
            "warning a stream waits before it tries again (stream pods): GET /pods: pods is "
            "forbidden; it tries again by itself"
        ),
        "streams are watched, and some wait (watched 2, waiting 1, revision 10)",
        "a stream is watched (stream pods, revision 10)",
        (
            "warning a stream waits before it tries again (stream pods): GET /pods: no route to "
            "https://a:…@proxy; it tries again by itself"
        ),
        "a stream is watched (stream pods, revision 10)",
        (
            "warning a hole remains: changes were missed that the server no longer shows (stream "
            "pods); plinian status shows the hole; an audit log can fill it"
        ),
        "warning an object could not be read, and was left out (stream pods, objects 2)",
    ]


def test_as_json_a_fault_has_what_where_and_now() -> None:
    assert _members(_faulty)[0] == {
        "level": "warning",
        "event": "a stream waits before it tries again",
        "stream": "pods",
        "what": "pods is forbidden",
        "where": "GET /pods",
        "now": "it tries again by itself",
    }


def _away() -> Iterator[Recording]:
    streams = _streams()
    yield _recording(streams)
    for stream in streams:
        stream.phase, stream.fault, stream.fault_at = StreamPhase.WAITING, "refused", "https://a"
        stream.fault_now = "start it"
    yield _recording(streams)
    streams[0].phase = StreamPhase.LISTING
    yield _recording(streams)
    streams[0].phase = StreamPhase.WAITING
    yield _recording(streams)
    for stream in streams:
        stream.phase, stream.revision = StreamPhase.WATCHING, 5
    yield _recording(streams)
    streams[1].phase = StreamPhase.WAITING
    yield _recording(streams)


def test_a_server_that_is_away_is_one_line_each_time() -> None:
    said = [line for line in _text(_away) if "is watched (" not in line]
    assert said == [
        (
            "warning streams wait before they try again (streams 3): https://a: refused; start "
            "it; it tries again by itself"
        ),
        "no stream is watched yet (watched 0, waiting 3)",
        (
            "warning a stream waits before it tries again (stream nodes): https://a: refused; "
            "start it; it tries again by itself"
        ),
    ]


def test_streams_that_begin_to_wait_soon_after_each_other_are_one_line() -> None:
    time = [0.0]
    streams, changes = _streams(), StreamChanges(held=1.0, clock=lambda: time[0])
    for stream in streams:
        stream.phase = StreamPhase.WATCHING
    said = [each.event for each in changes.since_last(_recording(streams))]
    assert said[-1] == "all streams are watched"
    for number, stream in enumerate(streams):
        stream.phase, stream.fault = StreamPhase.WAITING, "refused"
        time[0] = 0.4 * number
        assert not list(changes.since_last(_recording(streams)))
    time[0] = 1.2
    (change,) = changes.since_last(_recording(streams))
    assert change.fields["streams"] == 3
    assert not list(changes.since_last(_recording(streams)))


def _lost() -> Iterator[Recording]:
    streams = _streams()
    fault = ConnectionLost("the server went away", where=PLACE)
    yield _recording(streams)
    yield _recording(streams, fault)
    yield _recording(streams, fault)
    yield _recording(streams)


def test_a_log_that_cannot_be_written_is_said_once_and_when_it_can_again() -> None:
    place = PLACE.replace(PASSWORD, "…")
    assert _text(_lost) == [
        (
            f"error the log cannot be written (waiting 7): {place}: the server went away; "
            "it tries again by itself"
        ),
        "the log can be written again (waiting 7)",
    ]


def _kept_from_a_list() -> Iterator[Recording]:
    """One kind is forbidden, and another has an object that no list shows whole."""
    streams = _streams()
    pods, nodes, queues = streams
    pods.phase = queues.phase = StreamPhase.WATCHING
    for turn in range(5):
        nodes.phase = StreamPhase.LISTING
        yield _recording(streams)
        nodes.phase, nodes.fault, nodes.fault_at = StreamPhase.WAITING, "forbidden", "GET /nodes"
        yield _recording(streams)
        pods.phase = StreamPhase.LISTING
        yield _recording(streams)
        pods.malformed += 1
        yield _recording(streams)
        pods.phase = StreamPhase.WATCHING
        yield _recording(streams)
        pods.repeated = turn + 1
    pods.malformed += 2
    yield _recording(streams)


def test_what_no_list_shows_is_said_once_however_often_it_is_read_again() -> None:
    assert _text(_kept_from_a_list) == [
        (
            "warning a stream waits before it tries again (stream nodes): GET /nodes: forbidden; "
            "it tries again by itself"
        ),
        "streams are watched, and some wait (watched 2, waiting 1)",
        "warning an object could not be read, and was left out (stream pods, objects 1)",
        "warning an object could not be read, and was left out (stream pods, objects 2)",
    ]


def _refused_repairs() -> Iterator[Recording]:
    streams = _streams()
    for stream in streams:
        stream.phase = StreamPhase.WATCHING
    yield _recording(streams)
    pods = streams[0]
    for _ in range(3):
        pods.phase = StreamPhase.REPAIRING
        yield _recording(streams)
        pods.phase, pods.fault = StreamPhase.WAITING, "forbidden"
        yield _recording(streams)
    pods.phase = StreamPhase.WATCHING
    yield _recording(streams)
    pods.phase = StreamPhase.WAITING
    yield _recording(streams)


def test_a_repair_that_is_refused_is_said_once_until_the_stream_is_watched_again() -> None:
    waits = "warning a stream waits before it tries again (stream pods): forbidden; it tries again"
    assert _text(_refused_repairs) == [
        "all streams are watched (watched 3)",
        "a watch expired: what it missed is read now (stream pods)",
        f"{waits} by itself",
        "a stream is watched (stream pods)",
        f"{waits} by itself",
    ]


@pytest.mark.parametrize("recordings", [_faulty, _lost])
def test_no_line_has_a_secret(recordings: Callable[[], Iterator[Recording]], form: str) -> None:
    said = _said(recordings, form)
    assert said
    assert not [line for line in said if PASSWORD in line]

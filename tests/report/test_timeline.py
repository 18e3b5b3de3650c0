"""The timeline of a report counts what the log holds, and marks what people look for."""

from __future__ import annotations

from collections import Counter

import pytest

from plinian import Log
from plinian.engine.kubernetes.units import format_time, parse_time
from plinian.engine.state.clock import TimeSpan, span_at
from plinian.replay.logs.earlier_moments import earlier, time_at
from plinian.replay.report.drawing import drawing_of
from plinian.replay.report.report_timeline import (
    PARTS,
    Mark,
    ReportWaiting,
    Stretch,
    Timeline,
    extent_of,
    timeline_of,
)

AT = "2026-11-21T01:53:36Z"


@pytest.fixture(scope="module")
def log(recording: Log) -> Log:
    """Return the log of the recording that comes with Plinian."""
    return recording


def test_lanes_count_the_events_of_the_time(log: Log) -> None:
    since, moment = log.moment("2026-11-21T01:53:06Z"), log.moment(AT)
    extent = extent_of(log, moment, since)
    assert extent is not None
    assert extent.end - extent.moment == extent.moment - extent.begin == 30_000_000
    timeline = timeline_of(log, moment, extent, ((), (), {}))
    until = "2026-11-21T01:54:06Z"
    counted = Counter(
        one.event.kind for one in log.events(since="2026-11-21T01:53:06Z", until=until)
    )
    pods = next(lane for lane in timeline.lanes if lane.name == "pods")
    wanted = {kind: count for kind, count in counted.items() if kind.startswith("pod.")}
    wanted.pop("pod.observed", None)
    assert dict(pods.kinds) == wanted
    assert pods.total == sum(wanted.values()) > 100
    assert len(pods.counts) == PARTS


def test_what_happened_to_nodes_and_evictions_are_marked(log: Log) -> None:
    moment = log.moment(AT)
    extent = extent_of(log, moment, log.moment("2026-11-21T01:53:00Z"))
    assert extent is not None
    nodes = {
        entry.reference.name: entry.fact
        for entry in log.truth("2026-11-21T01:53:00Z").of("", "Node")
    }
    timeline = timeline_of(log, moment, extent, ((), (), nodes))  # type: ignore[arg-type]
    texts = [mark.text for mark in timeline.marks]
    assert texts[:2] == ["node node-1 cordoned", "5 pods evicted"]
    assert any("deleted" in text for text in texts)
    times = [mark.when.estimate or 0 for mark in timeline.marks]
    assert times == sorted(times)
    positions = {mark.position: mark.text for mark in timeline.marks}
    assert positions[1904] == "node node-1 cordoned", "the event that shows it"


def test_a_log_that_ends_at_the_moment_has_no_time_after_it(log: Log) -> None:
    end = log.moment()
    extent = extent_of(log, end, log.moment(AT))
    assert extent is not None
    assert extent.end == log.clock().last()


def test_a_position_has_the_time_of_the_events_before_it(log: Log) -> None:
    moment = log.moment("@1904")
    before, _ = earlier(log, moment, None)
    assert before is not None
    assert before.known == 1904
    time = time_at(log, moment)
    assert time is not None
    assert format_time(time).startswith("2026-11-21T01:53:37.019")
    extent = extent_of(log, moment, before)
    assert extent is not None
    assert extent.moment == time
    timeline = timeline_of(log, moment, extent, ((), (), {}))
    assert timeline.marks[-1].text == "node node-1 cordoned", "nothing later is known"


def test_marks_and_answers_are_drawn_over_the_bounds_of_their_times() -> None:
    begin, end = parse_time("2026-05-01T08:00:00Z"), parse_time("2026-05-01T09:00:00Z")
    low, high = parse_time("2026-05-01T08:30:00Z"), parse_time("2026-05-01T08:50:00Z")
    when = TimeSpan(low, high, (low + high) // 2)
    timeline = Timeline(
        begin=begin,
        end=end,
        moment=end,
        before=None,
        lanes=(),
        waiting=(
            ReportWaiting("pod a", (Stretch(high, end, "queue", "its queue is full", when),)),
        ),
        sessions=(),
        marks=(Mark(when, "node n1 cordoned", 4), Mark(span_at(high), "node n1 Ready", 5)),
        more_marks=0,
    )
    drawing = drawing_of(timeline)
    cordoned, ready = drawing.flags
    assert (cordoned.time, cordoned.exact) == ("08:30:00..08:50:00", False)
    assert (ready.time, ready.exact, ready.until) == ("08:50:00", True, ready.at)
    assert cordoned.until == ready.at
    (piece,) = drawing.lives[0].pieces
    assert piece.begun is not None
    assert piece.begun.x == cordoned.at
    assert round(piece.begun.x + piece.begun.width, 1) == piece.bar.x == ready.at

"""What the timeline draws is what the log holds: times, counts, phases, steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kubectl_lists import listed, take

import plinian
from plinian.engine.errors import ObjectNotFound, PointUnknown, UsageError
from plinian.replay.facade.log import Log
from plinian.replay.moments.times import span_text
from plinian.replay.server.web.axis import PARTS, axis_of
from plinian.replay.server.web.lanes import drawing_of
from plinian.replay.server.web.lives import life_of, set_by, setter
from plinian.replay.server.web.look import Look
from plinian.replay.server.web.positions import position_of, time_at, version_by
from plinian.replay.server.web.rows import fields_of, rows_around
from plinian.replay.server.web.steps import step

DRAINED, AFTER = "2026-11-21T01:53:37.019Z", "2026-11-21T01:53:37.030Z"


@pytest.fixture(scope="module")
def log(demo_log: Path) -> Iterator[Log]:
    with plinian.open(demo_log, read_only=True) as opened:
        yield opened


def _look(log: Log, position: int, **query: str) -> Look:
    return Look(position, log.store.last(), query=tuple(query.items()))


@pytest.mark.parametrize("window", [(1, 4446), (1800, 2700), (2000, 2400)])
def test_every_event_of_a_window_is_counted_about_once(log: Log, window: tuple[int, int]) -> None:
    axis = axis_of(log, *window)
    events = window[1] - window[0] + 1
    assert len(axis.bars) == PARTS
    if window == (1, 4446):
        assert events * 0.99 < sum(axis.bars) <= events  # a few lines of logs have no time
    assert 0 < sum(axis.bars) <= events + PARTS
    assert axis.exact is (events <= 1200)


def test_positions_are_where_their_state_is(log: Log) -> None:
    axis = axis_of(log, 1, log.store.last())
    assert list(axis.times) == sorted(axis.times)
    moment = log.moment(AFTER)
    assert moment.time is not None
    position = position_of(log, AFTER)
    assert abs(axis.share(position) - axis.share_of(moment.time)) < 0.5
    assert span_text(time_at(log, position)) == DRAINED


def test_the_last_positions_are_where_their_state_is(log: Log) -> None:
    axis = axis_of(log, 1, log.store.last())
    (last,) = log.store.read(version_by(log.branch, log.cluster, log.store.last()))
    time = log.clock().time_of(last.event.revision)
    assert time is not None
    shares = [axis.share(at) for at in (last.position - 14, last.position, log.store.last())]
    assert shares[0] < shares[1] == shares[2] == axis.share_of(time)


def test_lines_of_logs_do_not_move_the_time_of_the_state(log: Log) -> None:
    """Position 1905 is a line of the scheduler's log: the state stays that of the event before."""
    line = next(iter(log.events(positions=(1905,))))
    assert line.event.kind == "session.opened"
    assert time_at(log, 1905) == time_at(log, 1904)


def test_lanes_have_the_phases_of_objects(log: Log) -> None:
    look = _look(log, 2000, lanes="node/node-1,pod/ml/none")
    drawing = drawing_of(log, look, axis_of(log, 1, look.last), "")
    node, nothing = drawing.lanes
    assert [one.phase for one in node.stretches] == [
        "Unknown",  # as kubectl says of a node without a Ready condition
        "Ready",
        "Ready,SchedulingDisabled",
        "Ready",
    ]
    cordoned = node.stretches[2]
    assert cordoned.begin == 1904
    assert cordoned.look == "waiting"
    ends = cordoned.x + cordoned.width
    assert abs(ends - node.stretches[3].x) < 0.2
    assert nothing.fault
    assert drawing.marks <= 5000


def test_marks_say_what_was_done_the_gravest_first(log: Log) -> None:
    look = _look(log, 2000)
    noted = drawing_of(log, look, axis_of(log, 1, look.last), "").noted
    assert {mark.sort for mark in noted} >= {"eviction", "cordon", "edit", "start"}
    kinds = {"eviction": "pod.evicted", "start": "process.started", "cordon": "node.updated"}
    for mark in noted:
        (event,) = log.events(positions=(mark.position,))
        assert event.event.kind == kinds.get(mark.sort, event.event.kind)
    said = " ".join(mark.text for mark in noted)
    assert "evicts pod/default/train-b-worker-3 by kubernetes-admin" in said
    assert "uncordons node/node-1 by kubernetes-admin" in said
    assert len({round(mark.x) for mark in noted}) == len(noted)


def test_without_pins_jobs_and_nodes_have_lanes_with_problems_first(log: Log) -> None:
    look = _look(log, 2000)
    names = [lane.name for lane in drawing_of(log, look, axis_of(log, 1, look.last), "").lanes]
    assert names[0] == "node/node-1", "it is cordoned"
    assert "job/default/big-gang" in names, "it waits"
    assert 3 < len(names) <= 7
    pinned = _look(log, 2000, lanes="queue/gold")
    lanes = drawing_of(log, pinned, axis_of(log, 1, look.last), "pod/ml/a").lanes
    assert [lane.name for lane in lanes] == ["queue/gold", "pod/ml/a"]


def test_sessions_are_drawn_at_their_own_times(log: Log) -> None:
    look = _look(log, 2000)
    drawing = drawing_of(log, look, axis_of(log, 1, look.last), "")
    assert len(drawing.sessions) == len(log.sessions())
    shares = [one.x for one in drawing.sessions]
    assert len(set(shares)) > len(shares) * 0.9  # apart, although the log has many of them together


def test_a_field_was_set_by_the_last_event_that_changed_it(log: Log) -> None:
    life = life_of(log, "node/node-1")
    past = life.by(2000)
    places = set_by(past, life.state(2000).version)
    assert setter(places, "spec.unschedulable") == 1904
    assert setter(places, "spec.taints[0].effect") == 1912
    first = next(one.position for one in past.happenings if one.shows_version)
    assert setter(places, "metadata.name") == first


def test_an_object_that_never_was_has_no_life(log: Log) -> None:
    with pytest.raises(ObjectNotFound):
        life_of(log, "pod/ml/none")


def test_rows_are_around_the_position(log: Log) -> None:
    found = [row.position for row in rows_around(log, _look(log, 2000)).rows]
    assert found == list(range(1971, 2031))
    start = rows_around(log, _look(log, 3))
    assert start.before is None
    assert start.rows[0].position == 1


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("pod.bound", {"kinds": ("pod.bound",)}),
        ("nodes", {"objects": (("", "Node"),)}),
        ("namespace:kube-system", {"namespace": "kube-system"}),
        ("ns:ml pod.*", {"namespace": "ml", "kinds": ("pod.*",)}),
        ("train-a-worker-0", {"name": "train-a-worker-0"}),
        ("by:admin", {"actor": "admin"}),
        ("kubernetes-admin", {"actor": "kubernetes-admin"}),
        ("nobody-at-all", {"name": "nobody-at-all"}),
        ("", {}),
    ],
)
def test_words_of_the_filter_narrow(log: Log, text: str, fields: dict[str, object]) -> None:
    assert fields_of(log, text) == fields


def test_steps_lead_to_the_next_of_a_sort(log: Log) -> None:
    look = _look(log, 1901, sel="node/node-1")
    assert step(log, look, "change", forwards=True) == 1904
    assert step(log, look, "event", forwards=False) == 1900
    session = step(log, look, "session", forwards=True)
    assert next(iter(log.events(positions=(session,)))).event.kind == "session.opened"
    notable = step(log, look, "notable", forwards=True)
    assert notable > 1901
    with pytest.raises(PointUnknown):
        step(log, _look(log, look.last), "event", forwards=True)
    with pytest.raises(UsageError):
        step(log, look, "dance", forwards=True)


def test_a_lane_draws_the_bounds_of_a_time_that_is_not_certain(tmp_path: Path) -> None:
    pending = {"phase": "Pending"}
    spec = {"schedulerName": "volcano", "containers": [{"name": "c"}]}
    place = tmp_path / "log.db"
    with plinian.open(place, create=True) as log:
        for minute, revision, status in ((30, 10, pending), (50, 20, {"phase": "Failed"})):
            items = [listed("Pod", "a", revision, spec=spec, status=status)]
            take(log, tmp_path / f"{minute}.json", items, f"2026-05-01T08:{minute}:00Z")
        look = _look(log, log.store.last(), lanes="pod/ml/a")
        drawing = drawing_of(log, look, axis_of(log, look.begin, look.end), "")
    (lane,) = drawing.lanes
    pended, failed = lane.stretches
    assert [pended.time, failed.time] == [
        "2026-05-01T08:00:00Z..08:30:00Z",
        "2026-05-01T08:30:00Z..08:50:00Z",
    ]
    (changed,) = [one for one in lane.unsure if one.position == failed.begin]
    assert changed.text == (
        f"pod.observed (@{failed.begin}) at a time between 2026-05-01T08:30:00Z and 08:50:00Z"
    )
    assert changed.width > 10
    assert pended.x + pended.width <= changed.x + 0.2, "pending is certain until then only"
    assert failed.x >= changed.x + changed.width - 0.2, "failed is certain from there on"
    assert drawing.unsure

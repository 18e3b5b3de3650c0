"""The picture of a timeline has its shapes where the times are."""

from __future__ import annotations

import pytest

from plinian.engine.state.clock import span_at
from plinian.replay.report.drawing import LEFT, RIGHT, WIDTH, drawing_of
from plinian.replay.report.report_timeline import Lane, Mark, ReportWaiting, Stretch, Timeline

SECOND = 1_000_000
BEGIN = 1_767_312_000 * SECOND


def a_timeline(**changes: object) -> Timeline:
    """Return a timeline of 100 seconds in 4 parts."""
    made = Timeline(
        begin=BEGIN,
        end=BEGIN + 100 * SECOND,
        moment=BEGIN + 50 * SECOND,
        before=BEGIN,
        lanes=(Lane("all objects", (4, 0, 2, 1), ()), Lane("nodes", (0, 0, 0, 0), ())),
        waiting=(),
        sessions=(),
        marks=(),
        more_marks=0,
    )
    return made._replace(**changes)  # type: ignore[arg-type]


def test_the_moment_is_in_the_middle_and_the_earlier_one_at_the_left() -> None:
    drawing = drawing_of(a_timeline())
    assert drawing.before == LEFT
    assert drawing.moment == (LEFT + WIDTH - RIGHT) / 2


def test_the_largest_part_fills_its_lane_and_others_are_in_proportion() -> None:
    (row,) = drawing_of(a_timeline()).rows
    heights = [bar.height for bar in row.bars]
    assert heights[0] == 2 * heights[1] == 4 * heights[2]
    assert all(bar.y + bar.height == row.base for bar in row.bars)
    assert row.name == "all objects", "a lane without events is left out"


def test_flags_that_are_near_do_not_cover_each_other() -> None:
    marks = tuple(
        Mark(span_at(BEGIN + second * SECOND), "node n cordoned", 1) for second in (10, 10, 10, 60)
    )
    flags = drawing_of(a_timeline(marks=marks)).flags
    assert [flag.number for flag in flags] == [1, 2, 3, 4]
    assert len({flag.at for flag in flags[:3]}) == 1, "they point to their time"
    assert flags[3].x == flags[3].at
    for one, other in ((0, 1), (1, 2), (0, 2)):
        apart = (flags[one].x - flags[other].x) ** 2 + (flags[one].y - flags[other].y) ** 2
        assert apart >= 16**2, "circles have a radius of 8"


def test_the_same_reason_has_the_same_colour_for_all_objects() -> None:
    half = BEGIN + 50 * SECOND
    waiting = (
        ReportWaiting(
            "job a", (Stretch(BEGIN, half, "gang", "a"), Stretch(half, half, "full", "b"))
        ),
        ReportWaiting("job b", (Stretch(BEGIN, half, "full", "c"),)),
    )
    one, other = drawing_of(a_timeline(waiting=waiting)).lives
    assert one.pieces[1].colour == other.pieces[0].colour != one.pieces[0].colour
    assert one.pieces[0].bar.width == pytest.approx((WIDTH - LEFT - RIGHT) / 2, abs=0.1)


def test_a_time_of_no_length_is_drawn() -> None:
    drawing = drawing_of(a_timeline(end=BEGIN, moment=BEGIN, before=None))
    assert drawing.before is None
    assert drawing.moment == LEFT

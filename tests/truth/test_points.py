"""Points: how moments are named, and what is said of those that are not plain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pods import pod

from plinian.engine.errors import PointUnknown
from plinian.engine.kubernetes.units import SECOND_US, format_time, parse_time
from plinian.engine.log import LogStore, open_log
from plinian.replay.moments.moment import remarks_on
from plinian.replay.moments.zones import zone_of
from plinian.replay.truth.points import resolve

DAY = parse_time("2026-01-02T00:00:00Z")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LogStore]:
    """Make a log of two days: a pod each at 22:00 and at 03:00 on the day after."""
    with open_log(str(tmp_path / "log.db"), create=True) as log:
        hour = 3600 * SECOND_US
        log.append([pod(10, "a", observed_at=DAY + 22 * hour)])
        log.append([pod(20, "b", observed_at=DAY + 27 * hour)])
        yield log


@pytest.mark.parametrize(
    ("text", "means", "revision"),
    [
        ("2026-01-02T23:00:00Z", "2026-01-02T23:00:00Z", 10),
        ("2026-01-03T00:00:00+01:00", "2026-01-02T23:00:00Z", 10),
        ("-1h", "2026-01-03T02:00:00Z", 10),
        ("23:00:00", "2026-01-02T23:00:00Z", 10),
        ("02:30", "2026-01-03T02:30:00Z", 10),
        ("02:59:59.999999Z", "2026-01-03T02:59:59.999999Z", 10),
        ("60 minutes ago", "2026-01-03T02:00:00Z", 10),
        ("1 h ago", "2026-01-03T02:00:00Z", 10),
        ("2hours ago", "2026-01-03T01:00:00Z", 10),
        ("today 02:30", "2026-01-03T02:30:00Z", 10),
        ("today", "2026-01-03T00:00:00Z", 10),
        ("yesterday 23:00", "2026-01-02T23:00:00Z", 10),
        ("2026-01-03", "2026-01-03T00:00:00Z", 10),
        ("2026-01-04", "2026-01-04T00:00:00Z", 20),
    ],
)
def test_a_time_can_be_named_in_many_ways(
    store: LogStore, text: str, means: str, revision: int
) -> None:
    moment = resolve(store, text)
    assert moment.time is not None
    assert (format_time(moment.time), moment.label, moment.revision) == (means, means, revision)


def test_how_a_time_of_day_was_understood_is_said(store: LogStore) -> None:
    (remark,) = remarks_on(resolve(store, "23:00"))
    assert remark.startswith("23:00 is read as 2026-01-02T23:00:00Z")
    (remark,) = remarks_on(resolve(store, "2026-01-03"))
    assert remark == "2026-01-03 is the beginning of that day, in UTC"
    (remark,) = remarks_on(resolve(store, "10 minutes ago"))
    assert remark == (
        "10 minutes ago is read as 2026-01-03T02:50:00Z, so long before the end of the log"
    )
    (remark,) = remarks_on(resolve(store, "yesterday 23:00"))
    assert remark.endswith("23:00:00Z: today is the day on which the log ends")
    assert remarks_on(resolve(store, "2026-01-02T23:00:00Z")) == []


def test_a_moment_past_the_end_is_said_to_be_so(store: LogStore) -> None:
    (remark,) = remarks_on(resolve(store, "2026-02-01T00:00:00Z"))
    assert remark == (
        "2026-02-01T00:00:00Z is after the last event of the log (2026-01-03T03:00:00Z): "
        "showing the end"
    )
    now = resolve(store, "now")
    assert now.revision == 20
    assert remarks_on(now)[0].startswith("now is 2")
    assert "after the last event" in remarks_on(now)[0]


def test_a_revision_that_is_yet_to_come_is_told_of(store: LogStore) -> None:
    assert remarks_on(resolve(store, "rv:20")) == []
    (remark,) = remarks_on(resolve(store, "rv:21"))
    assert remark == "rv:21 is after the last known revision (rv:20): showing the end"


ODD = ("5 months ago", "ago", "-1 h ago", "yesterday 25:00", "tomorrow", "yesterday  10:00")


def test_the_day_on_which_the_log_ends_is_one_of_the_zone(store: LogStore) -> None:
    moment = resolve(store, "today 20:00", zone=zone_of("America/New_York"))
    assert moment.label == "2026-01-03T01:00:00Z"


@pytest.mark.parametrize(
    "text", ["25:00", "10:61", "2026-13-01", "10:42:07+01:00", "noon", "-5", *ODD]
)
def test_what_is_no_time_is_refused(store: LogStore, text: str) -> None:
    with pytest.raises(PointUnknown, match="invalid point"):
        resolve(store, text)


def test_changes_that_may_be_on_either_side_are_counted(tmp_path: Path) -> None:
    with open_log(str(tmp_path / "wide.db"), create=True) as log:
        wide = [pod(r, f"p{r}", observed_at=None) for r in (11, 12, 13)]
        log.append([pod(10, "a", observed_at=DAY), *wide, pod(20, "b", observed_at=DAY + 10**7)])
        moment = resolve(log, "2026-01-02T00:00:04Z")
        (remark,) = remarks_on(moment)
    assert remark == (
        "2026-01-02T00:00:04Z: 3 changes (rv:11 … rv:13) may have happened before or after "
        "this moment"
    )

"""Times of receiving and of fetching: what they say of when things happened."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from clusters import compact, pod, watched
from plinian.engine.events import Recorded
from plinian.engine.ingest.received import receiving_times, tells_of_another
from plinian.engine.log import Query, open_log
from plinian.engine.units import SECOND_US, parse_time
from plinian.replay.clock import clock_of
from plinian.replay.ingest import IngestOptions, ingest_at

AT = parse_time("2026-01-02T12:00:00Z")


def told(folder: Path, *inputs: str, taken_at: tuple[int, int] | None = None) -> list[Recorded]:
    """Ingest inputs of a folder, and return the events."""
    place = str(folder / "log.db")
    options = IngestOptions(taken_at=taken_at)
    ingest_at(place, [str(folder / name) for name in inputs], options)
    with open_log(place) as log:
        return list(log.read(Query()))


def stream(folder: Path, name: str = "watch-pods.jsonl") -> None:
    """Write a watch of a pod that comes, changes and goes, none of it with a stamp but creation."""
    text = watched(
        ("MODIFIED", pod("first", 1, creationTimestamp="2026-01-02T11:00:00Z")),
        ("ADDED", pod("a", 10, creationTimestamp="2026-01-02T12:00:00Z")),
        ("DELETED", pod("a", 20, creationTimestamp="2026-01-02T12:00:00Z")),
    )
    (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)


def received(*seconds: float) -> str:
    return "".join(f"{AT / SECOND_US + second:.6f}\n" for second in seconds)


@pytest.mark.parametrize("name", ["watch-pods.jsonl", "watch-pods.jsonl.gz", "watch-pods.json"])
def test_a_file_beside_a_watch_tells_by_when_each_line_was_there(tmp_path: Path, name: str) -> None:
    stream(tmp_path, name)
    (tmp_path / "watch-pods.recv").write_text("# began\n" + received(0.1, 0.25, 30.5))
    events = told(tmp_path, ".")
    by_revision = {one.event.revision: one.event for one in events if one.event.revision}
    assert by_revision[10].latest == AT + 250_000
    assert by_revision[20].latest == AT + 30_500_000
    with open_log(str(tmp_path / "log.db")) as log:
        clock = clock_of(log, branch="main", cluster="default")
        assert clock.revision_at(AT + 30_400_000) == 10
        assert clock.revision_at(AT + 30_500_000) == 20


def test_a_file_of_times_is_not_an_input_and_is_not_reported(tmp_path: Path) -> None:
    stream(tmp_path)
    (tmp_path / "watch-pods.recv").write_text(received(0.1, 0.2, 0.3))
    (tmp_path / "alone.recv").write_text(received(0.1))
    assert tells_of_another(str(tmp_path / "watch-pods.recv"))
    assert not tells_of_another(str(tmp_path / "alone.recv"))
    summary = ingest_at(str(tmp_path / "log.db"), [str(tmp_path)])
    assert [Path(one.source).name for one in summary.skipped_files if "recv" in one.source] == [
        "alone.recv"
    ]


@pytest.mark.parametrize("text", ["yesterday\n", "-5\n", "nan\n", "1e99\n", "é\n"])
def test_times_that_are_none_are_not_used_and_said_to_be_so(tmp_path: Path, text: str) -> None:
    stream(tmp_path)
    (tmp_path / "watch-pods.recv").write_text(text)
    summary = ingest_at(str(tmp_path / "log.db"), [str(tmp_path / "watch-pods.jsonl")])
    (note,) = [note for note in summary.notes if "recv" in note]
    assert "receiving times are not used" in note
    assert summary.appended > 0


def test_fewer_times_than_lines_leave_the_rest_without(tmp_path: Path) -> None:
    stream(tmp_path)
    (tmp_path / "watch-pods.recv").write_text(received(0.1))
    assert len(receiving_times(str(tmp_path / "watch-pods.jsonl")).times) == 1
    events = told(tmp_path, "watch-pods.jsonl")
    assert [one.event.latest for one in events if one.event.revision == 20] == [None]


def test_a_list_that_was_fetched_at_a_time_bounds_what_it_holds(tmp_path: Path) -> None:
    items = [pod("a", 10, creationTimestamp="2026-01-02T11:00:00Z")]
    document = {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items}

    (tmp_path / "list.json").write_bytes(compact(document))
    events = told(tmp_path, "list.json", taken_at=(AT, AT + 999_999))
    assert {one.event.latest for one in events if one.event.revision} == {AT + 999_999}
    again = told(tmp_path, "list.json", taken_at=(AT, AT + 999_999))
    assert len(again) == len(events)


def test_times_that_are_learnt_later_are_kept_once(tmp_path: Path) -> None:
    stream(tmp_path)
    before = told(tmp_path, "watch-pods.jsonl")
    (tmp_path / "watch-pods.recv").write_text(received(0.1, 0.25, 30.5))
    after = told(tmp_path, "watch-pods.jsonl")
    assert [one.event.kind for one in after[len(before) :]] == ["version.timed"] * 2, (
        "that of the creation had a bound already: its second"
    )
    assert len(told(tmp_path, "watch-pods.jsonl")) == len(after)

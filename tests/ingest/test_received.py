"""Times of receiving and of fetching: what they say of when things happened."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import zstandard

from clusters import compact, pod, watched
from plinian.engine.events import Recorded
from plinian.engine.ingest.reading.inputs import InputFile
from plinian.engine.ingest.watch.received import ReceivingTimes
from plinian.engine.kubernetes.units import SECOND_US, parse_time
from plinian.engine.log import Query, open_log
from plinian.replay.ingest.ingest_run import IngestOptions, ingest_at
from plinian.replay.moments.log_clock import clock_of

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


TEXT = "# began\n" + received(0.1, 0.25, 30.5)


def assert_timed(folder: Path, *inputs: str) -> None:
    events = told(folder, *inputs)
    by_revision = {one.event.revision: one.event for one in events if one.event.revision}
    assert by_revision[10].latest == AT + 250_000
    assert by_revision[20].latest == AT + 30_500_000


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, zstandard.compress])
def test_the_file_of_times_may_be_compressed(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    suffix = {gzip.compress: ".gz", lzma.compress: ".xz", bz2.compress: ".bz2"}.get(pack, ".zst")
    stream(tmp_path, "watch-pods.jsonl.gz")
    (tmp_path / f"watch-pods.recv{suffix}").write_bytes(pack(TEXT.encode()))
    assert_timed(tmp_path, "watch-pods.jsonl.gz")
    summary = ingest_at(str(tmp_path / "log.db"), [str(tmp_path)])
    assert [one.source for one in summary.skipped_files if "recv" in one.source] == []


def packed(folder: Path, name: str, members: Sequence[str]) -> bytes:
    """Return an archive of files of a folder, in their order."""
    whole = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in members:
                archive.write(folder / member, f"dir/{member}")
        return whole.getvalue()
    with tarfile.open(fileobj=whole, mode="w:gz" if name.endswith("gz") else "w") as tar:
        for member in members:
            tar.add(folder / member, f"./{member}")
    return whole.getvalue()


@pytest.mark.parametrize("name", ["all.tar", "all.tar.gz", "all.zip"])
@pytest.mark.parametrize("watch", ["watch-pods.jsonl", "watch-pods.jsonl.gz"])
@pytest.mark.parametrize("first", [True, False], ids=["times first", "times last"])
def test_times_are_found_in_an_archive_beside_the_watch(
    tmp_path: Path, name: str, watch: str, *, first: bool
) -> None:
    stream(tmp_path, watch)
    (tmp_path / "watch-pods.recv").write_text(TEXT)
    (tmp_path / "alone.recv").write_text(TEXT)
    members = ["watch-pods.recv", watch, "alone.recv"]
    folder = tmp_path / "archive"
    folder.mkdir()
    packs = packed(tmp_path, name, members if first else members[::-1])
    (folder / name).write_bytes(packs)
    assert_timed(folder, name)
    summary = ingest_at(str(folder / "log.db"), [str(folder / name)])
    assert [one.source.rpartition("!")[2].rpartition("/")[2] for one in summary.skipped_files] == [
        "alone.recv"
    ]


def test_times_are_found_in_an_archive_within_an_archive(tmp_path: Path) -> None:
    stream(tmp_path)
    (tmp_path / "watch-pods.recv").write_text(TEXT)
    (tmp_path / "in.zip").write_bytes(
        packed(tmp_path, "in.zip", ["watch-pods.jsonl", "watch-pods.recv"])
    )
    folder = tmp_path / "archive"
    folder.mkdir()
    (folder / "all.tar.gz").write_bytes(packed(tmp_path, "all.tar.gz", ["in.zip"]))
    assert_timed(folder, "all.tar.gz")


def test_times_in_an_archive_that_are_none_are_said_to_be_so(tmp_path: Path) -> None:
    stream(tmp_path)
    (tmp_path / "watch-pods.recv").write_text("5" * 1_000_000)
    (tmp_path / "all.zip").write_bytes(
        packed(tmp_path, "all.zip", ["watch-pods.jsonl", "watch-pods.recv"])
    )
    summary = ingest_at(str(tmp_path / "log.db"), [str(tmp_path / "all.zip")])
    (note,) = [note for note in summary.notes if "recv" in note]
    assert "all.zip!dir/watch-pods.recv: receiving times are not used" in note
    assert summary.appended > 0


def test_a_file_of_times_is_not_an_input_and_is_not_reported(tmp_path: Path) -> None:
    stream(tmp_path)
    (tmp_path / "watch-pods.recv").write_text(received(0.1, 0.2, 0.3))
    (tmp_path / "alone.recv").write_text(received(0.1))
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
    path = str(tmp_path / "watch-pods.jsonl")
    assert len(ReceivingTimes(InputFile(path, named=True, size=1)).of(path).times) == 1
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
    assert [one.event.kind for one in after[len(before) :]] == ["version.timed"] * 3, (
        "that of the creation had a bound already, its second, and this one is closer"
    )
    assert len(told(tmp_path, "watch-pods.jsonl")) == len(after)

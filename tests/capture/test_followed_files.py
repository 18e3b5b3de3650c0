"""Files that grow are followed, across rotations, and give what ingesting them afterwards gives."""

from __future__ import annotations

import lzma
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from plinian.engine.errors import FormatUnknown, UsageError
from plinian.engine.log import MAIN, open_log
from plinian.engine.log.store import Query
from plinian.replay.capture.commit_writer import CommitPace
from plinian.replay.capture.followed_file import check_folders, component_source, followed_files
from plinian.replay.capture.outbox import Room
from plinian.replay.capture.recorder import ROOM, StreamRecorder
from plinian.replay.capture.stream_state import StreamPhase
from plinian.replay.demo import copy_inputs
from plinian.replay.ingest.ingest_run import IngestOptions, ingest_at
from plinian.replay.logs.log import Log, opened
from plinian.replay.recorded.recorded_sessions import recorded_sessions

PATIENCE = 120.0
PACE = CommitPace(held=0.0, few=1, soon=0.0, late=0.0, covers=0.0)
NOW = 1_796_000_000_000_000
PIECES = 6


def waited_for(what: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE
    while not what():
        assert monotonic() < end, "it did not come about"
        sleep(0.01)


class Following:
    """Files that are followed into a log by a thread of this process."""

    def __init__(self, place: Path, paths: list[Path]) -> None:
        self._place, room = place, Room(ROOM)
        named = {"": list(map(str, paths))}
        self.files = followed_files(named, room, cluster="default", now=lambda: NOW)
        self.fault: BaseException | None = None
        self._recorder: StreamRecorder | None = None
        self._room = room
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        with open_log(self._place, create=True) as store:
            self._recorder = StreamRecorder(store, self.files, self._room, commits=PACE)
            try:
                self._recorder.run(lambda _recording: None)
            except BaseException as fault:  # noqa: BLE001 -- the test looks at it
                self.fault = fault

    def end(self) -> None:
        waited_for(lambda: self._recorder is not None)
        assert self._recorder is not None
        self._recorder.stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("demo")
    names = ("audit.log", "scheduler.log", "controllers.log", "watch-pods.jsonl")
    copied = {path.name.removesuffix(".xz"): path for path in copy_inputs(folder)}
    return {name: lzma.decompress(copied[name].read_bytes()) for name in names}


def pieces(data: bytes) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces that end within lines."""
    size = len(data) // PIECES + 7
    yield from (data[begin : begin + size] for begin in range(0, len(data), size))


def grow(folder: Path, inputs: dict[str, bytes], following: Following) -> None:
    """Write the files piece by piece; in the middle, rotate all but the watch at a line's end."""
    rest = {name: list(pieces(data)) for name, data in inputs.items()}
    for turn in range(PIECES):
        for name, left in rest.items():
            piece = left.pop(0) if left else b""
            if turn == PIECES // 2 and not name.startswith("watch"):
                head, newline, tail = piece.partition(b"\n")
                with (folder / name).open("ab") as file:
                    file.write(head + newline)
                (folder / name).rename(folder / f"{name}.1")
                piece = tail
            with (folder / name).open("ab") as file:
                file.write(piece)
        read = [file.state.bytes for file in following.files]
        assert following.fault is None, read


def sessions(log: Log) -> list[tuple[object, ...]]:
    """Return what each recorded session did, without the positions of what shows it."""
    return [
        (session.uid, session.opened, session.closed, session.binds, session.evictions)
        for session in recorded_sessions(log.store, log.moment())
    ]


def test_files_that_grow_and_rotate_give_what_ingesting_them_gives(
    inputs: dict[str, bytes], tmp_path: Path
) -> None:
    live, still = tmp_path / "live", tmp_path / "still"
    live.mkdir()
    still.mkdir()
    for name, data in inputs.items():
        (live / name).touch()
        (still / name).write_bytes(data)
    following = Following(tmp_path / "live.db", [live / name for name in inputs])
    # A file that is rotated before it was opened is one that was never seen.
    waited_for(lambda: all(file.state.phase == "watching" for file in following.files))
    grow(live, inputs, following)
    total = sum(map(len, inputs.values()))
    waited_for(lambda: sum(file.state.bytes for file in following.files) >= total)
    following.end()
    assert following.fault is None
    ingest_at(
        tmp_path / "still.db", [str(still / name) for name in inputs], IngestOptions(year=2026)
    )
    with opened(tmp_path / "live.db") as log, opened(tmp_path / "still.db") as other:
        assert log.digest() == other.digest()
        assert sessions(log) == sessions(other)
        coverage, expected = log.coverage(log.moment()), other.coverage(other.moment())
        assert coverage.kinds() == expected.kinds()
        for pair in coverage.kinds():
            ranges = [(span.first, span.last) for span in coverage.spans(pair)]
            assert ranges == [(span.first, span.last) for span in expected.spans(pair)]


def test_a_second_run_stores_nothing_twice(inputs: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "scheduler.log"
    data = inputs["scheduler.log"]
    path.write_bytes(data)

    def stored() -> int:
        following = Following(tmp_path / "log.db", [path])
        waited_for(lambda: following.files[0].state.bytes >= len(data))
        following.end()
        assert following.fault is None
        with open_log(tmp_path / "log.db") as store:
            return sum(1 for _ in store.read(Query(branch=MAIN)))

    counts = [stored(), stored()]
    assert counts[0] == counts[1] > 0


def test_a_file_that_is_not_there_yet_is_waited_for(
    inputs: dict[str, bytes], tmp_path: Path
) -> None:
    path = tmp_path / "scheduler.log"
    following = Following(tmp_path / "log.db", [path])
    waited_for(lambda: following.files[0].state.phase == "waiting")
    assert following.files[0].state.fault == "there is no such file"
    path.write_bytes(inputs["scheduler.log"][:5000])
    waited_for(lambda: following.files[0].state.bytes == 5000)
    following.end()
    assert following.files[0].state.fault == ""


def test_a_file_that_was_emptied_in_place_is_read_on_and_claims_nothing_more(
    inputs: dict[str, bytes], tmp_path: Path
) -> None:
    data = inputs["audit.log"]
    cut = data.index(b"\n", len(data) // 2) + 1
    path = tmp_path / "audit.log"
    path.write_bytes(data[:cut])
    following = Following(tmp_path / "log.db", [path])
    file = following.files[0]
    waited_for(lambda: file.state.bytes == cut)
    path.write_bytes(data[cut:][: cut // 2])
    waited_for(lambda: file.state.holes == 1)
    waited_for(lambda: file.state.bytes == cut + cut // 2)
    following.end()
    with open_log(tmp_path / "log.db") as store:
        covered = list(store.read(Query(kinds=("audit.covered",))))
        versions = list(store.read(Query(kinds=("pod.*",))))
    assert max(event.event.line for event in covered) <= data[:cut].count(b"\n")
    assert versions


def test_a_file_of_another_format_ends_the_recording_with_what_can_be_followed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "list.json"
    path.write_text('{"kind": "PodList", "apiVersion": "v1", "items": []}\n')
    following = Following(tmp_path / "log.db", [path])
    waited_for(lambda: following.fault is not None)
    following.end()
    assert isinstance(following.fault, FormatUnknown)
    assert "audit-log, klog, watch-stream" in following.fault.now


@pytest.mark.parametrize(
    ("path", "component", "source"),
    [
        ("/var/log/volcano-scheduler.log", "scheduler", "/var/log/volcano-scheduler.log"),
        ("/var/log/0.log", "scheduler", "/var/log/0.log (scheduler)"),
        ("-", "controllers", "standard input (controllers)"),
    ],
)
def test_the_name_of_an_input_says_which_component_wrote_it(
    path: str, component: str, source: str
) -> None:
    assert component_source(path, component) == source


def test_a_file_that_is_named_twice_is_followed_once() -> None:
    named = {"scheduler": ["a.log", "a.log"], "": ["b.log"]}
    made = followed_files(named, Room(ROOM), cluster="default", now=lambda: NOW)
    assert [each.source for each in made] == ["a.log (scheduler)", "b.log"]


def test_a_file_that_is_not_there_yet_is_named_and_waited_for(tmp_path: Path) -> None:
    place = tmp_path / "nosuch.log"
    following = Following(tmp_path / "log.db", [place])
    (state,) = [file.state for file in following.files]
    waited_for(lambda: state.phase is StreamPhase.WAITING)
    assert (state.fault, state.fault_at) == ("there is no such file", str(place))
    assert state.fault_now == "it is read when it appears"
    place.touch()
    waited_for(lambda: state.phase is StreamPhase.WATCHING)
    assert state.cause == ("", "", "")
    following.end()


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    check_folders(["-", "nosuch.log", str(tmp_path / "nosuch.log")])
    with pytest.raises(UsageError, match="there is no folder") as refused:
        check_folders([str(tmp_path / "nosuch" / "a.log")])
    assert refused.value.where == str(tmp_path / "nosuch" / "a.log")

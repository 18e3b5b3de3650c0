"""Whole recorders: memory is bounded, nothing is dropped, they end, and two may share a log."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from api_store import POD, QUEUE, ApiStore
from branches import BRANCH, with_branch
from credential_server import kubeconfig
from interrupted_postgres import way_to
from model_api_server import ModelApiServer
from running_recorders import LIMIT, Gate, RunningRecorder, recording
from serving import Running, serving_here

import plinian
from plinian.engine.errors import ConnectionLost, LogUnavailable
from plinian.engine.log import LogStore, Query, open_log
from plinian.engine.state.coverage_events import coverage_of
from plinian.engine.state.log_coverage import COVERING
from plinian.replay.capture.cluster_access import Body, ServerRefusal
from plinian.replay.capture.recorded_cluster import RecordOptions
from plinian.replay.capture.recorder import Recording
from plinian.replay.capture.stream_changes import StreamChange, StreamChanges
from plinian.replay.logs.log import opened
from plinian.replay.logs.log_status import status_of
from plinian.replay.render.figures import status_lines
from plinian.replay.server.settings import ServerSettings

OPTIONS = RecordOptions(kinds=("pods", "queues"))
MANY = 300
ROOM = 30_000
VERSIONS = ("pod.observed", "pod.created", "pod.updated", "pod.deleted")
MERGE = {"Content-Type": "application/merge-patch+json"}


def idles() -> bool:
    """Let a watch wait for more."""
    time.sleep(0.005)
    return True


@pytest.fixture
def store() -> ApiStore:
    made = ApiStore()
    for number in range(MANY):
        made.create(POD, f"p-{number}")
    made.create(QUEUE, "q")
    return made


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogStore]:
    with open_log(str(tmp_path / "log.db"), create=True) as opened:
        yield opened


def reached(now: Recording, revision: int) -> bool:
    pods = next(stream for stream in now.streams if stream.resource == "pods")
    return (pods.revision or 0) >= revision


def pods(log: LogStore) -> list[tuple[str, int]]:
    found = log.read(Query(objects=(("", "Pod"),)))
    return [
        (recorded.event.reference.name, recorded.event.revision or 0)
        for recorded in found
        if recorded.event.reference.uid
    ]


def no_thread_reads() -> None:
    """Wait until no thread of a stream is left."""
    end = time.monotonic() + LIMIT
    while left := [each for each in threading.enumerate() if each.name.startswith("record:")]:
        assert time.monotonic() < end, left
        time.sleep(0.01)


def test_what_waits_for_a_slow_log_is_bounded_and_nothing_is_dropped(
    store: ApiStore, log: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(log, monkeypatch)
    with recording(log, ModelApiServer(store, idle=idles), OPTIONS, room=ROOM) as running:
        running.waits_for(lambda now: now.bytes_waiting > ROOM - 3000)
        for _ in range(20):
            time.sleep(0.01)
            assert running.recorder.recording().bytes_waiting <= ROOM
        gate.opened.set()
        running.waits_for(lambda now: reached(now, store.revision))
    assert len(pods(log)) == MANY
    no_thread_reads()


def test_it_can_be_stopped_while_its_streams_wait_for_room(
    store: ApiStore, log: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(log, monkeypatch)
    with recording(log, ModelApiServer(store, idle=idles), OPTIONS, room=ROOM) as running:
        running.waits_for(lambda now: now.bytes_waiting > ROOM - 3000)
        running.recorder.stop()
        gate.opened.set()
    no_thread_reads()
    known = coverage_of(recorded.event for recorded in log.read(Query(kinds=COVERING)))
    assert known.spans(("", "Pod")) == () or len(pods(log)) == MANY


@pytest.mark.parametrize("fault", [LogUnavailable("read-only"), ConnectionLost("away")])
def test_its_threads_end_also_if_the_log_cannot_be_written(
    store: ApiStore, log: LogStore, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    gate = Gate(log, monkeypatch)
    gate.fault = fault
    running = RunningRecorder(log, ModelApiServer(store, idle=idles), OPTIONS, room=ROOM)
    running.waits_for(lambda now: now.bytes_waiting > ROOM - 3000)
    gate.opened.set()
    running.stop()
    assert running.fault is fault
    no_thread_reads()
    assert log.last() == 0


def test_a_log_that_was_away_gets_everything_once_it_is_back(
    store: ApiStore, log: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(log, monkeypatch)
    gate.opened.set()
    gate.fault = ConnectionLost("away", where="x")
    with recording(log, ModelApiServer(store, idle=idles), OPTIONS, room=ROOM) as running:
        running.waits_for(lambda now: now.fault is not None)
        for number in range(20):
            store.change(POD, f"p-{number}")
        gate.fault = None
        real = {
            (name, int(document["metadata"]["resourceVersion"]))
            for (_, name), document in store.at(POD, store.revision).items()
        }
        running.waits_for(lambda now: now.fault is None and real <= set(pods(log)))
    assert max(Counter(pods(log)).values()) == 1


def test_a_full_disk_is_told_and_everything_is_stored_once_it_has_room(
    store: ApiStore, log: LogStore
) -> None:
    file = log._database._connection  # type: ignore[attr-defined]
    pages = file.execute("PRAGMA page_count").fetchone()[0]
    file.execute(f"PRAGMA max_page_count = {pages}")
    with recording(log, ModelApiServer(store, idle=idles), OPTIONS, room=ROOM) as running:
        running.waits_for(lambda now: now.fault is not None and now.bytes_waiting > ROOM - 3000)
        fault = running.recorder.recording().fault
        assert fault is not None
        assert (fault.what, fault.where) == ("database or disk is full", str(log.info().url))
        assert "make room on the disk" in fault.now
        assert running.recorder.recording().bytes_waiting <= ROOM, "reading stops"
        with log._database.alone():  # type: ignore[attr-defined]
            file.execute("PRAGMA max_page_count = 1000000")
        running.waits_for(lambda now: now.fault is None and reached(now, store.revision))
    assert len(pods(log)) == MANY
    assert max(Counter(pods(log)).values()) == 1


def test_another_writer_of_the_file_is_told_and_waited_for(store: ApiStore, tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    with open_log(place, create=True, waits=False) as log:
        other = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        with recording(log, ModelApiServer(store, idle=idles), OPTIONS, room=ROOM) as running:
            running.waits_for(lambda now: now.fault is not None)
            other.execute("ROLLBACK")
            running.waits_for(lambda now: now.fault is None and reached(now, store.revision))
        other.close()
        assert len(pods(log)) == MANY


@pytest.mark.postgres
def test_a_server_that_is_away_is_told_and_does_not_hold_up_the_end(
    store: ApiStore, postgres_log_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def waits(*_: object) -> None:
        raise AssertionError("the log waits by itself, so nothing can be told")

    monkeypatch.setattr("plinian.engine.log.patience.Patience.wait", waits)
    open_log(postgres_log_url, create=True).close()
    with way_to(postgres_log_url) as way, open_log(way.url, waits=False) as log:
        running = RunningRecorder(log, ModelApiServer(store, idle=idles), OPTIONS, room=ROOM)
        running.waits_for(lambda now: reached(now, store.revision))
        way.cut()
        store.change(POD, "p-1")
        changed = store.revision
        running.waits_for(lambda now: isinstance(now.fault, ConnectionLost))
        way.mend()
        running.waits_for(lambda now: now.fault is None and ("p-1", changed) in pods(log))
        way.cut()
        store.change(POD, "p-2")
        running.waits_for(lambda now: now.fault is not None)
        running.stop()
        assert isinstance(running.fault, ConnectionLost)
        way.mend()


class Forbidding:
    """An API server that lets this user read no pods."""

    def __init__(self, server: ModelApiServer) -> None:
        self._server = server
        self.refused = 0

    def open(self, path: str, query: Mapping[str, str], *, quiet: float, accept: str = "") -> Body:
        """Answer, or refuse."""
        if path.endswith("/pods"):
            self.refused += 1
            raise ServerRefusal(403, "pods is forbidden", retry_after=None)
        return self._server.open(path, query, quiet=quiet, accept=accept)


def test_a_kind_that_is_forbidden_is_said_once_and_shows_in_status(
    store: ApiStore, tmp_path: Path
) -> None:
    server, changes = Forbidding(ModelApiServer(store, idle=idles)), StreamChanges(held=0.0)
    said: list[StreamChange] = []

    def looks(now: Recording) -> bool:
        said.extend(changes.since_last(now))
        return server.refused > 5 and now.committed.commits > 0

    with open_log(tmp_path / "log.db", create=True) as log, recording(log, server, OPTIONS) as run:
        run.waits_for(looks)
    waits = [each for each in said if each.event == "a stream waits before it tries again"]
    assert [each.fields["what"] for each in waits] == ["pods is forbidden"]
    with opened(tmp_path / "log.db") as read:
        status = status_of(read)
    assert ("", "Pod") in [each.pair for each in status.missing]
    assert [each.stream for each in status.streams] == ["queues.scheduling.volcano.sh"]
    assert any(line.split()[:2] == ["pods", "never"] for line in status_lines(status))


class Children:
    """Two recorders of one server on one log, in processes of their own."""

    def __init__(self, config: str, place: str) -> None:
        words = ["record", "--log", place, "--kubeconfig", config, "--kind", "pods"]
        self._words = [sys.executable, "-m", "plinian", *words]
        self._running = [self._begun(), self._begun()]

    def _begun(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self, which: int) -> None:
        """Kill one, and start another in its place."""
        assert self._running[which].poll() is None, "a recorder ended by itself"
        self._running[which].kill()
        self._running[which].wait()
        self._running[which] = self._begun()

    def end(self) -> list[int]:
        """Let both end, and return their codes."""
        for process in self._running:
            process.terminate()
        return [process.wait(LIMIT) for process in self._running]


def write(served: Running, number: int) -> int:
    """Create a pod, change it twice, delete every second one; return the last revision."""
    pods = "/api/v1/namespaces/default/pods"
    spec = {"containers": [{"name": "c", "image": "i"}]}
    name = f"made-{number}"
    made = served.client.post(pods, json={"metadata": {"name": name}, "spec": spec})
    assert made.status_code == 201, made.text
    for label in "ab":
        told = {"metadata": {"labels": {"n": label}}}
        made = served.client.patch(f"{pods}/{name}", json=told, headers=MERGE)
    if number % 2 == 0:
        served.client.delete(f"{pods}/{name}", params={"gracePeriodSeconds": "0"})
    return int(made.json()["metadata"]["resourceVersion"])


def versions(place: str, branch: str = "main") -> list[tuple[str, int, str]]:
    """Return the versions of pods in a log, in its order."""
    with open_log(place) as log:
        return [
            (event.reference.uid, event.revision, event.kind)
            for recorded in log.read(Query(branch=branch, objects=(("", "Pod"),)))
            if (event := recorded.event).revision is not None and event.kind in VERSIONS
        ]


def has(place: str, revision: int) -> None:
    """Wait until a log has a revision of a pod, or a greater one."""
    end = time.monotonic() + LIMIT
    while max((found for _, found, _ in versions(place)), default=-1) < revision:
        assert time.monotonic() < end, f"the log does not get revision {revision}"
        time.sleep(0.1)


def test_two_recorders_of_one_log_that_are_killed_in_turn(log_place: str, tmp_path: Path) -> None:
    demo = tmp_path / "demo.db"
    plinian.demo(demo).close()
    branched = with_branch(demo, tmp_path / "branched.db")
    open_log(log_place, create=True).close()
    settings = ServerSettings(place=str(branched), branch=BRANCH, port=0, writable=True)
    with serving_here(settings) as served:
        config = kubeconfig(tmp_path, str(served.client.base_url), {})
        both = Children(config, log_place)
        has(log_place, 0)
        for number in range(4):
            write(served, number)
            both.kill(number % 2)
            write(served, number + 4)
        end = write(served, 9)
        has(log_place, end)
        assert both.end() == [0, 0]
    with open_log(log_place) as log:
        known = coverage_of(recorded.event for recorded in log.read(Query(kinds=COVERING)))
    (span,) = known.spans(("", "Pod"))
    assert span.last >= end
    recorded = [version for version in versions(log_place) if version[1] > span.first]
    real = [version for version in versions(str(branched), BRANCH) if version[1] > span.first]
    assert Counter(recorded) == Counter(real)
    for uid in {version[0] for version in real}:
        of_one = [revision for each, revision, _ in recorded if each == uid]
        assert of_one == sorted(of_one)

"""When the revisions of a cluster fall, what follows is another history."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from running_recorders import Gate

from plinian.engine.errors import ConnectionLost, LogUnavailable
from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.log import open_log
from plinian.engine.log.store import Query
from plinian.replay.capture import recorder as recorder_module
from plinian.replay.capture.commit_writer import Committed
from plinian.replay.capture.hole_repair import EpochFell
from plinian.replay.capture.outbox import Outbox, Room
from plinian.replay.capture.recorded_cluster import ClusterEpochs
from plinian.replay.capture.recorder import ROOM, Recording, RecordingFailed, StreamRecorder
from plinian.replay.capture.stream_changes import StreamChanges
from plinian.replay.capture.stream_state import StreamState


class Brief(threading.Thread):
    """A stream with one pod; it ends, or its cluster's revisions fall."""

    def __init__(self, room: Room, cluster: str, *, falls: bool) -> None:
        super().__init__(daemon=True)
        self.state = StreamState(resource="pods")
        self.outbox = Outbox(room)
        self.fell: EpochFell | None = None
        self.crash: BaseException | None = None
        self._cluster, self._falls = cluster, falls

    def stop(self) -> None:
        """Do nothing: it ends by itself."""

    def run(self) -> None:
        """Add a pod of revision 10, whatever came before."""
        pod = {"kind": "Pod", "metadata": {"name": self._cluster, "resourceVersion": "10"}}
        self.outbox.add(
            Event(
                kind="pod.created",
                reference=Reference("", "Pod", "default", "p", "u"),
                payload=canonical_json(pod),
                resource_version="10",
                revision=10,
                cluster=self._cluster,
            )
        )
        self.fell = EpochFell(10, 7) if self._falls else None


def passing(what: str) -> LogUnavailable:
    fault = LogUnavailable(what)
    fault.may_pass = True
    return fault


def recorded(place: Path, clusters: Sequence[str]) -> Recording:
    room = Room(ROOM)
    streams = [[Brief(room, name, falls=name != clusters[-1])] for name in clusters]
    with open_log(place, create=True) as store:
        recorder = StreamRecorder(store, streams.pop(0), room, renewed=lambda: streams.pop(0))
        return recorder.run(lambda _recording: None)


def test_each_epoch_is_recorded_under_another_name(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "log.db", ["prod", "prod~2", "prod~3"])
    assert recording.epochs == 2
    with open_log(tmp_path / "log.db") as store:
        assert [(each.event.cluster, each.event.revision) for each in store.read(Query())] == [
            *(("prod", 10), ("prod~2", 10), ("prod~3", 10)),
        ]


@pytest.mark.parametrize("fault", [ConnectionLost("away"), passing("database or disk is full")])
@pytest.mark.parametrize("where", ["append", "read"])
def test_an_epoch_may_end_while_the_log_is_away(
    where: str, fault: LogUnavailable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters, room = ["prod", "prod~2"], Room(ROOM)
    with open_log(tmp_path / "log.db", create=True) as store:
        gate = Gate(store, monkeypatch)
        gate.opened.set()
        away = True

        def made(cluster: str) -> list[Brief]:
            if where == "read" and away and cluster != "prod":
                raise fault
            return [Brief(room, cluster, falls=cluster == "prod")]

        epochs = ClusterEpochs([], "prod", made)
        recorder = StreamRecorder(store, epochs.streams(), room, renewed=epochs.renewed)
        gate.fault = fault if where == "append" else None
        seen: list[Recording] = []

        def noticed(now: Recording) -> None:
            nonlocal away
            seen.append(now)
            if len(seen) == 3:
                gate.fault, away = None, False

        done = recorder.run(noticed)
        assert [(now.fault, now.epochs) for now in seen[:3]] == [(fault, 0)] * 3
        assert (done.fault, done.epochs) == (None, 1)
        stored = [(each.event.cluster, each.event.revision) for each in store.read(Query())]
    assert stored == [(cluster, 10) for cluster in clusters]


def test_it_can_be_stopped_while_an_epoch_cannot_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, fault = Room(ROOM), ConnectionLost("away", where="db", now="start it")
    with open_log(tmp_path / "log.db", create=True) as store:
        gate = Gate(store, monkeypatch)
        gate.opened.set()
        gate.fault = fault
        recorder = StreamRecorder(store, [Brief(room, "prod", falls=True)], room, renewed=list)
        with pytest.raises(ConnectionLost) as caught:
            recorder.run(lambda _recording: recorder.stop())
        assert caught.value is fault


def test_what_comes_back_before_the_end_is_over_gets_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Room(ROOM)
    with open_log(tmp_path / "log.db", create=True) as store:
        real, tries = store.append, 0

        def append(batch: Sequence[Event], **options: Any) -> object:
            nonlocal tries
            tries += 1
            if tries < 3:
                recorder.stop()
                raise ConnectionLost("away")
            return real(batch, **options)

        monkeypatch.setattr(store, "append", append)
        monkeypatch.setattr(recorder_module, "_PATIENCE", 120.0)
        recorder = StreamRecorder(store, [Brief(room, "prod", falls=True)], room, renewed=list)
        done = recorder.run(lambda _recording: None)
        assert (done.fault, done.waiting, store.last()) == (None, 0, 1)


def test_what_has_ended_by_itself_waits_for_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard input cannot be read a second time."""
    room = Room(ROOM)
    with open_log(tmp_path / "log.db", create=True) as store:
        gate = Gate(store, monkeypatch)
        gate.opened.set()
        gate.fault = ConnectionLost("away")
        recorder = StreamRecorder(store, [Brief(room, "prod", falls=False)], room)
        seen: list[Recording] = []

        def noticed(now: Recording) -> None:
            seen.append(now)
            if len(seen) == 3:
                gate.fault = None

        recorder.run(noticed)
        assert [now.fault is not None for now in seen] == [True] * 3
        assert store.last() == 1


def test_without_a_next_epoch_the_recording_ends_with_what_to_do(tmp_path: Path) -> None:
    room = Room(ROOM)
    with open_log(tmp_path / "log.db", create=True) as store:
        recorder = StreamRecorder(store, [Brief(room, "prod", falls=True)], room)
        with pytest.raises(RecordingFailed, match="revision 10 was seen, and the server is at 7"):
            recorder.run(lambda _recording: None)
        assert store.last() == 1, "what was read before is stored"


def test_a_line_says_that_an_epoch_begins() -> None:
    changes = StreamChanges()
    recording = Recording([], Committed())
    list(changes.since_last(recording))
    said = list(changes.since_last(msgspec.structs.replace(recording, epochs=1)))
    assert [(change.weight, change.event) for change in said] == [
        ("warning", "the revisions of the cluster fell: another epoch of it begins")
    ]
    assert not list(changes.since_last(msgspec.structs.replace(recording, epochs=1)))

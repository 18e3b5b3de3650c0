"""When the revisions of a cluster fall, what follows is another history."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.log import open_log
from plinian.engine.log.store import Query
from plinian.replay.capture.commit_writer import Committed
from plinian.replay.capture.hole_repair import EpochFell
from plinian.replay.capture.outbox import Outbox, Room
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

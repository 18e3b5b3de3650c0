"""Batches of an audit webhook: in the log or on disk before they are answered, and never twice."""

from __future__ import annotations

import lzma
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from plinian.engine.errors import InputError
from plinian.engine.events.epochs import next_epoch
from plinian.engine.log import open_log
from plinian.engine.log.store import Query
from plinian.replay.capture import audit_inbox
from plinian.replay.capture.audit_inbox import AuditInbox
from plinian.replay.capture.commit_writer import CommitPace
from plinian.replay.capture.outbox import Outbox, Room
from plinian.replay.capture.recorder import ROOM, StreamRecorder
from plinian.replay.demo import copy_inputs
from plinian.replay.ingest.ingest_run import ingest_at
from plinian.replay.logs.log import opened

PATIENCE = 120.0
PACE = CommitPace(held=0.0, soon=0.0, late=0.0)


class Receiving:
    """An inbox with the recorder that stores what it takes."""

    def __init__(self, place: Path, spool: Path, cluster: str = "default") -> None:
        room = Room(ROOM)
        self.inbox = AuditInbox(Outbox(room), room, spool, cluster=cluster, now=lambda: 1)
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(place, room))
        self._thread.start()
        assert self._begun.wait(PATIENCE)

    def _run(self, place: Path, room: Room) -> None:
        with open_log(place, create=True) as store:
            self._recorder = StreamRecorder(store, [self.inbox], room, commits=PACE)
            self._begun.set()
            self._recorder.run(lambda _recording: None)

    def end(self) -> None:
        self._recorder.stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Return the audit log of the demo as an API server would send it."""
    folder = tmp_path_factory.mktemp("demo")
    (path,) = (path for path in copy_inputs(folder) if path.name.startswith("audit"))
    records = [msgspec.Raw(line) for line in lzma.decompress(path.read_bytes()).splitlines()]
    head = {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}}
    return [
        msgspec.json.encode({**head, "items": records[begin : begin + 400]})
        for begin in range(0, len(records), 400)
    ]


def kinds(place: Path) -> Iterator[str]:
    with open_log(place) as store:
        yield from (recorded.event.kind for recorded in store.read(Query()))


def digest(place: Path) -> str:
    with opened(place) as log:
        return log.digest()


@pytest.fixture(scope="module")
def expected(batches: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("expected")
    (folder / "audit.log").write_bytes(b"\n".join(batches) + b"\n")
    ingest_at(folder / "log.db", [str(folder / "audit.log")])
    return digest(folder / "log.db")


def test_batches_give_what_the_file_gives_in_any_order_and_repeated(
    batches: list[bytes], expected: str, tmp_path: Path
) -> None:
    receiving = Receiving(tmp_path / "log.db", tmp_path / "spool")
    for body in [*reversed(batches), *batches[:2]]:
        receiving.inbox.accept(body)
    receiving.end()
    assert digest(tmp_path / "log.db") == expected
    stored = list(kinds(tmp_path / "log.db"))
    receiving = Receiving(tmp_path / "log.db", tmp_path / "spool")
    for body in batches:
        receiving.inbox.accept(body)
    receiving.end()
    assert list(kinds(tmp_path / "log.db")) == stored


def test_nothing_is_claimed_of_what_came(batches: list[bytes], tmp_path: Path) -> None:
    receiving = Receiving(tmp_path / "log.db", tmp_path / "spool")
    for body in batches:
        receiving.inbox.accept(body)
    receiving.end()
    stored = set(kinds(tmp_path / "log.db"))
    assert "audit.covered" not in stored
    assert any(kind.startswith("pod.") for kind in stored)


def test_a_batch_that_is_not_stored_in_time_is_on_disk_and_stored_by_the_next_run(
    batches: list[bytes], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_inbox, "ANSWER_SECONDS", 0.0)
    spool, room = tmp_path / "spool", Room(ROOM)
    inbox = AuditInbox(Outbox(room), room, spool, cluster="default", now=lambda: 1)
    for body in batches:
        inbox.accept(body)  # Nothing stores them: the process is killed here.
    assert len(list(spool.iterdir())) == len(batches)
    receiving = Receiving(tmp_path / "log.db", spool)
    while list(spool.iterdir()):
        assert receiving.inbox.crash is None
    receiving.end()
    assert digest(tmp_path / "log.db") == expected


def test_a_batch_that_is_late_and_on_disk_is_read_once(
    batches: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "spool"
    counts = []
    for name, seconds in (("in time", PATIENCE), ("late", 0.0)):
        monkeypatch.setattr(audit_inbox, "ANSWER_SECONDS", seconds)
        receiving = Receiving(tmp_path / f"{name}.db", spool)
        for body in batches:
            receiving.inbox.accept(body)
        while spool.exists() and list(spool.iterdir()):
            assert receiving.inbox.crash is None
        receiving.end()
        counts.append(receiving.inbox.state.events)
    assert counts[0] == counts[1] > 0


def test_a_batch_that_has_no_room_waits_on_disk(batches: list[bytes], tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    room = Room(1)
    inbox = AuditInbox(Outbox(room), room, spool, cluster="default", now=lambda: 1)
    inbox.accept(batches[0])
    (kept,) = spool.iterdir()
    assert kept.read_bytes() == batches[0]


@pytest.mark.parametrize("cluster", ["prod", "a/b:c-d", "..", "100%2F", "生产集群" * 10])
def test_a_batch_on_disk_belongs_to_the_epoch_in_which_it_came(
    batches: list[bytes], cluster: str, tmp_path: Path
) -> None:
    place, spool, room = tmp_path / "log.db", tmp_path / "spool", Room(ROOM)
    ended = AuditInbox(Outbox(room), room, spool, cluster=cluster, now=lambda: 1)
    ended.stop()
    ended.accept(batches[0])
    receiving = Receiving(place, spool, cluster=next_epoch(cluster))
    while list(spool.iterdir()):
        assert receiving.inbox.crash is None
    receiving.inbox.accept(batches[0])
    receiving.end()
    with open_log(place) as store:
        found = Counter(recorded.event.cluster for recorded in store.read(Query()))
    assert set(found) == {cluster, next_epoch(cluster)}
    assert len(set(found.values())) == 1


def test_a_batch_on_disk_without_a_cluster_belongs_to_the_one_that_is_recorded(
    batches: list[bytes], tmp_path: Path
) -> None:
    """Version 0.1.0 kept them so."""
    spool = tmp_path / "spool"
    spool.mkdir()
    (spool / "0123.json").write_bytes(batches[0])
    receiving = Receiving(tmp_path / "log.db", spool, cluster="prod")
    while list(spool.iterdir()):
        assert receiving.inbox.crash is None
    receiving.end()
    with open_log(tmp_path / "log.db") as store:
        assert {recorded.event.cluster for recorded in store.read(Query())} == {"prod"}


def test_a_batch_after_the_end_is_on_disk(batches: list[bytes], tmp_path: Path) -> None:
    receiving = Receiving(tmp_path / "log.db", tmp_path / "spool")
    receiving.end()
    receiving.inbox.accept(batches[0])
    assert len(list((tmp_path / "spool").iterdir())) == 1


@pytest.mark.parametrize("body", [b"", b"{}", b'{"kind":"Pod"}', b"not json", b"\x00" * 9])
def test_what_is_no_batch_is_refused_and_leaves_nothing(body: bytes, tmp_path: Path) -> None:
    room = Room(ROOM)
    inbox = AuditInbox(Outbox(room), room, tmp_path / "spool", cluster="default", now=lambda: 1)
    with pytest.raises(InputError, match="no batch of audit records"):
        inbox.accept(body)
    assert not (tmp_path / "spool").exists()

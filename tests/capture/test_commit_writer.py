"""What waits to be stored: bounded, in order, with what it covers, and kept while a log is away."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from pods import message, pods

from plinian.engine.errors import ConnectionLost, LogUnavailable
from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import WatchFollowed
from plinian.engine.ingest.watch.grown_spans import Placed
from plinian.engine.log import LogStore, Query, open_log
from plinian.replay.capture.commit_writer import CommitPace, CommitWriter
from plinian.replay.capture.outbox import Outbox, Room

LIMIT = 120
"""Seconds that a test waits for a thread; it needs milliseconds."""


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


class Written:
    """A writer with two streams on a log, and a clock that a test moves."""

    def __init__(self, store: LogStore, pace: CommitPace = CommitPace()) -> None:  # noqa: B008
        self.store, self.clock = store, Clock()
        self.room = Room(2**30)
        self.pods, self.others = Outbox(self.room), Outbox(self.room)
        self.writer = CommitWriter(store, "main", self.room, self.clock, pace)

    def after(self, seconds: float, *, all_of_it: bool = False) -> bool:
        """Let time pass, and commit what is due."""
        self.writer.collect([self.pods, self.others])
        self.clock.now += seconds
        return self.writer.commit(all_of_it=all_of_it)

    def kinds(self) -> list[str]:
        return [recorded.event.kind for recorded in self.store.read(Query())]

    def spans(self) -> list[tuple[int, int]]:
        found = self.store.read(Query(kinds=("watch.followed",)))
        told = [msgspec.json.decode(r.event.payload, type=WatchFollowed) for r in found]
        return [(span.since, span.until) for span in told]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogStore]:
    with open_log(str(tmp_path / "log.db"), create=True) as store:
        yield store


@pytest.fixture
def written(log: LogStore) -> Written:
    return Written(log)


def span(since: int, until: int, begin: str = "resumed", source: str = "record:pods") -> Placed:
    followed = WatchFollowed(
        group="", listed="Pod", since=since, until=until, begin=begin, until_at=until
    )
    event = Event(
        kind="watch.followed",
        reference=Reference("", "Pod"),
        payload=canonical_json(followed),
        source=source,
        cluster="default",
    )
    return since, event


def put(outbox: Outbox, *revisions: int) -> None:
    for event in pods(*revisions):
        outbox.add(event)


def test_few_events_wait_for_others_and_many_do_not(written: Written) -> None:
    put(written.pods, *range(1, 20))
    assert not written.after(1.1)
    put(written.pods, 20)
    assert written.after(0.4)
    assert (written.writer.waiting, written.store.last()) == (1, 19)
    assert not written.after(4)
    assert written.after(1)
    assert (written.writer.waiting, written.store.last()) == (0, 20)


def test_a_few_events_wait_five_seconds_at_most(written: Written) -> None:
    put(written.pods, 1)
    for _ in range(4):
        assert not written.after(1)
    assert written.after(1)
    assert written.writer.committed.lag == 5


def test_thousands_are_committed_once_they_have_waited_for_lesser_revisions(
    written: Written,
) -> None:
    put(written.pods, *range(1, 2501))
    assert not written.after(0.1)
    assert written.after(0.4)
    assert written.store.last() == 2500
    assert written.writer.committed.commits == 2


def test_nothing_waits_for_others_while_readers_may_have_to_wait(written: Written) -> None:
    put(written.pods, *range(1, 5))
    written.room.take(2**29 - 9000)
    assert not written.after(0.1)
    put(written.others, *range(5, 14))
    assert written.after(0.0)
    assert (written.writer.waiting, written.store.last()) == (0, 13)


def test_a_busy_cluster_is_committed_twice_a_second(written: Written) -> None:
    commits = 0
    for revision in range(1, 201):
        put(written.pods, revision)
        commits += written.after(0.05)
    assert 10 <= commits <= 20


def test_a_quiet_cluster_is_committed_every_five_seconds(written: Written) -> None:
    commits = 0
    for revision in range(1, 61):
        put(written.pods, revision)
        commits += written.after(1)
    assert 10 <= commits <= 15


def test_events_of_several_kinds_are_stored_in_the_order_of_revisions(written: Written) -> None:
    put(written.pods, 2, 5, 9)
    put(written.others, 1, 6, 8)
    written.after(9)
    revisions = [recorded.event.revision for recorded in written.store.read(Query())]
    assert revisions == sorted(revisions, key=lambda revision: revision or 0)
    assert len(revisions) == 6


def test_what_arrives_just_before_a_commit_waits_for_the_next_one(written: Written) -> None:
    put(written.pods, 5)
    written.after(4.7)
    put(written.others, 7)
    assert written.after(0.3)
    put(written.pods, 6)
    written.after(9)
    revisions = [recorded.event.revision for recorded in written.store.read(Query())]
    assert revisions == [5, 6, 7]


def test_what_is_covered_is_stored_with_the_last_event_that_it_covers(written: Written) -> None:
    put(written.pods, *range(1, 4501))
    written.pods.cover([span(1, 4500)])
    seen: list[tuple[int, int]] = []
    real = written.store.append

    def append(batch: Sequence[Event], **options: object) -> object:
        done = real(batch, **options)  # type: ignore[arg-type] -- of the real method
        covers = [event for event in batch if event.kind == "watch.followed"]
        seen.append((len(batch), len(covers)))
        return done

    written.store.append = append  # type: ignore[method-assign, assignment]
    assert written.after(1)
    assert seen == [(2000, 0), (2000, 0), (501, 1)]


def test_it_is_said_every_ten_seconds_what_is_covered_and_at_the_end(written: Written) -> None:
    for until in range(10, 200, 10):
        put(written.pods, until)
        written.pods.cover([span(until - 10, until)])
        written.after(5)
    said = [(0, 10), *((since, since + 20) for since in range(10, 180, 20))]
    assert written.spans() == said
    put(written.pods, 200)
    written.pods.cover([span(190, 200)])
    written.after(0, all_of_it=True)
    assert written.spans()[-1] == (190, 200)


def test_what_a_quiet_stream_covers_is_said_although_nothing_more_comes(written: Written) -> None:
    written.pods.cover([span(0, 10)])
    assert written.after(5)
    written.pods.cover([span(10, 20)])
    assert written.after(6)
    assert written.spans() == [(0, 10)]
    assert written.after(5)
    assert written.spans() == [(0, 10), (10, 20)]
    assert not written.after(20)
    written.pods.cover([span(20, 30)])
    written.after(6)
    written.pods.cover([span(30, 40)])
    written.after(6)
    assert written.after(0, all_of_it=True)
    assert written.spans()[-1] == (30, 40)
    assert not written.after(20, all_of_it=True)


def test_a_list_is_said_at_once_so_that_a_hole_ends_with_it(written: Written) -> None:
    written.pods.cover([span(0, 10)])
    written.after(5)
    put(written.pods, 20)
    written.pods.cover([span(20, 20, "marked")])
    assert written.after(5)
    assert written.spans() == [(0, 10), (20, 20)]


def test_nothing_is_covered_before_it_is_stored(written: Written) -> None:
    """A stream hands over what it covers a moment before the writer commits."""
    put(written.pods, 1)
    written.after(4.9)
    put(written.pods, 2)
    written.pods.cover([span(0, 2)])
    assert written.after(0.1)
    assert written.spans() == []
    assert written.after(5)
    assert written.spans() == [(0, 2)]


@pytest.mark.parametrize("fault", [ConnectionLost("away", where="x"), LogUnavailable("full")])
def test_what_could_not_be_stored_waits_with_all_that_it_covers(
    written: Written, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    real, away = written.store.append, [False]

    def append(batch: Sequence[Event], **options: object) -> object:
        if away[0]:
            raise fault
        return real(batch, **options)  # type: ignore[arg-type] -- of the real method

    monkeypatch.setattr(written.store, "append", append)
    for until in range(10, 60, 10):
        put(written.pods, until)
        written.pods.cover([span(until - 10, until)])
        for away[0] in (True, False):
            try:
                done = written.after(5)
            except type(fault):
                assert away[0]
                assert written.room.used > 0
            else:
                assert done
                assert not away[0]
    written.after(0, all_of_it=True)
    put(written.pods, 60)
    written.after(0, all_of_it=True)
    spans = written.spans()
    assert spans[0][0] == 0
    assert spans[-1][1] == 50
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    assert written.room.used == 0
    assert written.writer.waiting == 0
    assert written.kinds().count("pod.updated") == 6


def test_a_part_that_was_stored_before_the_log_went_away_is_not_stored_twice(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = written.store.append, [0]

    def append(batch: Sequence[Event], **options: object) -> object:
        calls[0] += 1
        if calls[0] == 2:
            raise ConnectionLost("away", where="x")
        return real(batch, **options)  # type: ignore[arg-type] -- of the real method

    monkeypatch.setattr(written.store, "append", append)
    put(written.pods, *range(1, 4001))
    with pytest.raises(ConnectionLost):
        written.after(1)
    assert written.after(1)
    assert written.store.last() == 4000


def test_an_event_that_is_known_gives_its_room_back(written: Written) -> None:
    for _ in range(2):
        put(written.pods, 1, 2)
        written.after(0, all_of_it=True)
    assert written.room.used == 0
    assert (written.writer.committed.appended, written.writer.committed.known) == (2, 2)


def test_a_stream_waits_while_there_is_no_room_and_nothing_is_dropped() -> None:
    room = Room(10_000)
    outbox = Outbox(room)
    events = [message(str(number)) for number in range(200)]

    def read() -> None:
        for event in events:
            outbox.add(event)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    got: list[Event] = []
    ends = threading.Event()
    while len(got) < len(events):
        assert room.used <= 10_000
        delivery = outbox.take()
        if delivery is None:
            assert reader.is_alive() or outbox.take() is None
            ends.wait(0.001)
            continue
        got += delivery.events
        room.give(delivery.size)
    reader.join(LIMIT)
    assert not reader.is_alive()
    assert got == events
    assert room.used == 0


def test_what_is_larger_than_all_the_room_goes_through_alone() -> None:
    room = Room(10)
    outbox = Outbox(room)
    outbox.add(message("first"))
    second = threading.Thread(target=outbox.add, args=(message("second"),), daemon=True)
    second.start()
    first = outbox.take()
    assert first is not None
    room.give(first.size)
    second.join(LIMIT)
    assert not second.is_alive()


def test_a_room_that_is_closed_lets_each_thread_go_on() -> None:
    room = Room(10)
    room.take(10)
    threads = [threading.Thread(target=room.take, args=(10,), daemon=True) for _ in range(5)]
    for thread in threads:
        thread.start()
    room.close()
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive()

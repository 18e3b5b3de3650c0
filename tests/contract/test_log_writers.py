"""Many writers at once: positions have no gaps, and nobody's events are lost."""

from __future__ import annotations

import threading

import pytest
from forking import Forking
from pods import message

from plinian.engine.errors import LogUnavailable, PositionConflict
from plinian.engine.log import Query, open_log
from plinian.engine.log.location import parse_location
from plinian.engine.log.sqlite import SqliteDatabase
from writers import BATCHES, WRITERS, append_all, append_with


def _whole(place: str) -> None:
    expected = BATCHES * 10 + WRITERS * BATCHES * 11
    with open_log(place) as log:
        assert log.last() == expected
        events = list(log.read(Query()))
        assert [recorded.position for recorded in events] == list(range(1, expected + 1))
        recorded_at = [recorded.recorded_at for recorded in events]
        assert recorded_at == sorted(recorded_at)
        assert len({(r.event.cluster, r.event.payload) for r in events}) == expected
        assert log.verify().events == expected


@pytest.mark.slow
def test_eight_processes_leave_no_gap(log_place: str, fresh: Forking) -> None:
    open_log(log_place, create=True).close()
    writers = [fresh.start("writers:append_all", log_place, str(i)) for i in range(WRITERS)]
    assert [writer.wait() for writer in writers] == [0] * WRITERS
    _whole(log_place)


@pytest.mark.parametrize("shared", [True, False], ids=["one store", "a store each"])
def test_eight_threads_leave_no_gap(log_place: str, *, shared: bool) -> None:
    with open_log(log_place, create=True) as log:
        failures: list[BaseException] = []

        def work(writer: int) -> None:
            try:
                append_with(log, writer) if shared else append_all(log_place, str(writer))
            except BaseException as fault:  # noqa: BLE001 -- shown by the main thread
                failures.append(fault)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
    _whole(log_place)


def test_of_writers_that_expect_the_same_end_one_wins(log_place: str) -> None:
    open_log(log_place, create=True).close()
    won: list[int] = []
    lost: list[int] = []

    def work(writer: int) -> None:
        with open_log(log_place) as log:
            for expected in range(5):
                try:
                    log.append([message(f"{writer} at {expected}")], expected=expected)
                    won.append(expected)
                except PositionConflict:
                    lost.append(expected)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_log(log_place) as log:
        assert log.last() == len(won) == len(set(won))
    assert len(won) + len(lost) == 20


@pytest.mark.slow
def test_two_processes_may_found_the_same_log(log_place: str, fresh: Forking) -> None:
    founders = [fresh.start("writers:found", log_place) for _ in range(4)]
    assert [founder.wait() for founder in founders] == [0] * 4
    with open_log(log_place) as log:
        assert log.last() == 1


def test_a_writer_that_waits_too_long_is_told_to_wait(sqlite_log_path: str) -> None:
    open_log(sqlite_log_path, create=True).close()
    location = parse_location(sqlite_log_path)
    holder = SqliteDatabase(location)
    waiter = SqliteDatabase(location, busy_seconds=0.1)
    with (
        holder.writing(),
        pytest.raises(LogUnavailable, match="locked") as caught,
        waiter.writing(),
    ):
        pass
    assert "wait" in caught.value.now
    assert caught.value.may_pass
    with waiter.writing():
        pass


@pytest.mark.postgres
def test_a_writer_that_waits_too_long_on_postgres_is_told_to_wait(postgres_log_url: str) -> None:
    from plinian.engine.log.postgres import PostgresDatabase  # noqa: PLC0415 -- needs libpq

    open_log(postgres_log_url, create=True).close()
    location = parse_location(postgres_log_url)
    holder = PostgresDatabase(location)
    waiter = PostgresDatabase(location, busy_seconds=0.1)
    with holder.writing(), pytest.raises(LogUnavailable, match="lock") as caught, waiter.writing():
        pass
    assert "wait" in caught.value.now
    assert caught.value.may_pass
    holder.close()
    waiter.close()

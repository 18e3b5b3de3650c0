"""A Postgres server that restarts: a log goes on with it, and nothing is stored twice or lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from branches import BRANCH
from interrupted_postgres import Way, way_to
from serving import ended, run, serving

import plinian
from clusters import pod, watched
from plinian.engine.errors import ConnectionLost
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.log import open_log
from plinian.engine.log.patience import PAUSES, lasting, patiently
from plinian.engine.log.store import Query

MOMENT = "rv:1200"
CONFIG = "/api/v1/namespaces/default/configmaps"
DOWN = 0.5
"""Seconds that the server is away; it is shorter than what is tried."""


@pytest.fixture
def way(postgres_log_url: str) -> Iterator[Way]:
    """Return a way to a log of the recording."""
    plinian.demo(postgres_log_url).close()
    with way_to(postgres_log_url) as found:
        yield found


def later(job: Callable[[], None]) -> threading.Thread:
    """Do something after a while, in a thread."""
    timer = threading.Timer(DOWN, job)
    timer.start()
    return timer


@pytest.mark.postgres
def test_an_open_log_reads_again_after_the_server_was_away(way: Way) -> None:
    with open_log(way.url) as store:
        last = store.last()
        way.cut()
        with pytest.raises(ConnectionLost):
            store.last()
        way.mend()
        assert store.last() == last
        assert len(list(store.read(Query(until=20)))) == 20


@pytest.mark.postgres
def test_what_is_appended_while_the_server_is_away_is_stored_once(way: Way) -> None:
    event = version_event(pod("late", 5000), verb="created", source="an input", line=1)
    with open_log(way.url) as store:
        last = store.last()
        way.cut()
        mending = later(way.mend)
        assert store.append([event]).last == last + 1
        mending.join()
        assert store.append([event]).known == 1
        assert store.last() == last + 1


@pytest.mark.postgres
def test_a_follower_goes_on_where_it_was(way: Way, postgres_log_url: str, tmp_path: Path) -> None:
    file = tmp_path / "more.jsonl"
    file.write_bytes(watched(("ADDED", pod("late", 5000))))
    with open_log(way.url) as store, plinian.open(postgres_log_url) as other:
        last = store.last()
        followed = store.follow(Query(after=last - 2, limit=3))
        seen = [next(followed).position, next(followed).position]
        way.cut()

        def come_back() -> None:
            other.ingest(file)
            way.mend()

        mending = later(come_back)
        assert [*seen, next(followed).position] == [last - 1, last, last + 1]
        mending.join()
        assert list(followed) == []


@pytest.mark.slow
@pytest.mark.postgres
def test_a_branch_is_written_again_after_the_server_was_away(
    way: Way, postgres_log_url: str
) -> None:
    """Clients write all the time: each write is stored once, or its client reads an error."""
    with plinian.open(postgres_log_url) as log:
        fork = log.moment(MOMENT).known
    with open_log(postgres_log_url) as store:
        store.create_branch(BRANCH, fork=fork)
    running = serving(way.url, "--branch", BRANCH, "--writable")
    stored = set[str]()
    try:
        for number in range(30):
            if number % 10 == 5:
                way.cut()
                mending = later(way.mend)
            made = running.client.post(CONFIG, json={"metadata": {"name": f"a{number}"}})
            assert made.status_code in {201, 503}, made.text
            stored |= {f"a{number}"} if made.status_code == 201 else set()
        mending.join()
        found = running.client.get(CONFIG).json()["items"]
        assert stored <= {one["metadata"]["name"] for one in found}
        assert len(stored) > 20
        assert running.client.get("/api/v1/pods").status_code == 200
        assert running.client.get("/plinian/v1/log").status_code == 200
    finally:
        ended(running)
    created = run(
        "events", "--log", postgres_log_url, "--branch", BRANCH, "--kind", "object.created"
    )
    assert created.returncode == 0, created.stderr
    assert run("verify", "--log", postgres_log_url).returncode == 0


def test_tries_are_bounded_and_begin_again_when_something_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("plinian.engine.log.patience.time.sleep", slept.append)
    calls = 0

    def never() -> None:
        nonlocal calls
        calls += 1
        raise ConnectionLost("away")

    with pytest.raises(ConnectionLost):
        patiently(never)
    assert (calls, tuple(slept)) == (len(PAUSES) + 1, PAUSES)


def test_a_log_that_is_opened_not_to_wait_says_at_once_that_it_is_away(
    monkeypatch: pytest.MonkeyPatch, sqlite_log_path: str
) -> None:
    def away(*_: object, **__: object) -> None:
        raise ConnectionLost("away")

    slept: list[float] = []
    monkeypatch.setattr("plinian.engine.log.patience.time.sleep", slept.append)
    monkeypatch.setattr("plinian.engine.log.append.append", away)
    for waits in (False, True):
        with (
            open_log(sqlite_log_path, create=True, waits=waits) as log,
            pytest.raises(ConnectionLost) as caught,
        ):
            log.append([version_event(pod("a", 5), verb="created", source="b", line=1)])
        assert caught.value.may_pass
        assert tuple(slept) == (PAUSES if waits else ())


def test_a_commit_without_an_answer_is_not_repeated_if_that_could_be_seen() -> None:
    calls = 0

    def unknown() -> None:
        nonlocal calls
        calls += 1
        fault = ConnectionLost("away")
        fault.committing = True
        raise fault

    with pytest.raises(ConnectionLost):
        patiently(unknown, may_be_done=False)
    assert calls == 1


def test_what_lasts_goes_on_with_what_was_not_yielded() -> None:
    left = [1, 2, 3, 4]

    def begin() -> Iterator[int]:
        while left:
            yield left.pop(0)
            if len(left) % 2:
                raise ConnectionLost("away")

    assert list(lasting(begin)) == [1, 2, 3, 4]

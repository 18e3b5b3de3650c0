"""What is known completely is the same, whether what events said is stored or read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import WatchFollowed
from plinian.engine.log import LogStore, open_log
from plinian.replay.moments import read_coverage as reading
from plinian.replay.moments.read_coverage import read_coverage, store_coverage, vouched_until

POD = ("", "Pod")
SECOND = 1_000_000
MANY = 600


def span(number: int) -> Event:
    """Return what a recorder leaves of a watch: one more revision, and every hundredth a hole."""
    hole = number % 100 == 50
    followed = WatchFollowed(
        group="",
        listed="Pod",
        since=number * 10 + 5 * hole,
        until=number * 10 + 10,
        begin="marked" if hole or not number else "resumed",
        interrupted=number % 100 == 49,
        until_at=number * SECOND,
    )
    payload = canonical_json(followed)
    return Event(kind="watch.followed", reference=Reference("", "Pod"), payload=payload)


@pytest.fixture
def store(tmp_path: Path) -> LogStore:
    """Return a log of a recorder that ran for long."""
    opened = open_log(tmp_path / "log.db", create=True)
    opened.append([span(number) for number in range(MANY)])
    return opened


def known(store: LogStore, until: int) -> tuple[object, ...]:
    reading._read.cache_clear()
    asked = {"branch": "main", "cluster": "default", "known": until}
    coverage = read_coverage(store, **asked)
    return coverage.spans(POD), [*coverage.between(95, 3_000)], vouched_until(store, **asked)


def test_it_is_the_same_at_each_position(store: LogStore, tmp_path: Path) -> None:
    more = [span(number) for number in range(MANY, MANY + 60)]
    with open_log(tmp_path / "whole.db", create=True) as whole:
        whole.append([*(span(number) for number in range(MANY)), *more])
        store_coverage(store, branch="main", cluster="default")
        assert store.info().checkpoints == 1
        store.append(more)
        for place in (1, 51, MANY - 1, MANY, MANY + 1, MANY + 60):
            assert known(store, place) == known(whole, place)


def test_only_what_came_later_is_read(store: LogStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store_coverage(store, branch="main", cluster="default")
    whole = known(store, MANY)
    store.append([span(MANY)])
    taken: list[Event] = []
    take = reading.CoverageFold.take
    monkeypatch.setattr(
        reading.CoverageFold, "take", lambda self, event: (taken.append(event), take(self, event))
    )
    assert known(store, MANY + 1) != whole
    assert len(taken) == 1


def test_a_few_events_are_not_worth_storing(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db", create=True) as store:
        store.append([span(number) for number in range(9)])
        store_coverage(store, branch="main", cluster="default")
        assert store.info().checkpoints == 0


def test_what_cannot_be_decoded_is_read_again(
    store: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = known(store, MANY)
    monkeypatch.setattr(reading, "_ENCODE", lambda _told: b"\xc1 no msgpack")
    store_coverage(store, branch="main", cluster="default")
    assert store.info().checkpoints == 1
    assert known(store, MANY) == whole

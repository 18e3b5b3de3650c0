"""The index of a log follows what is appended, and an answer is the same with and without it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic, sleep

import pytest
from index_builds import pid, refuse, spend

from clusters import initial_end, pod, watched
from plinian.engine.log import open_log
from plinian.engine.state.facts import VERSION
from plinian.replay.belief.stored_belief import what_of
from plinian.replay.capture.index_builder import Build, IndexBuilder, indexed
from plinian.replay.ingest.ingest_run import ingest_at
from plinian.replay.logs.log_index import build_log_index
from plinian.replay.moments.ordered_events import STRETCH

PATIENCE = 300.0


def appended(place: Path, revision: int, pods: int = 1) -> None:
    path = place.parent / f"{revision}.jsonl"
    added = (("ADDED", pod(f"a{number}", revision + number)) for number in range(pods))
    path.write_bytes(watched(*added, initial_end(revision + pods)))
    ingest_at(place, [str(path)])


def reached(place: Path) -> int:
    with open_log(place) as store:
        return store.facts_until(cluster="default", branch="main", version=VERSION)


def last(place: Path) -> int:
    with open_log(place) as store:
        return store.last()


def kept(place: Path) -> Build:
    return partial(build_log_index, str(place), "main", release="v1.12.1")


@contextmanager
def built_beside(build: Build, last: Callable[[], int]) -> Iterator[IndexBuilder]:
    with indexed(build, cluster=lambda: "default", last=last, wait=0.01) as builder:
        yield builder


def wait_until(is_so: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE
    while not is_so():
        assert monotonic() < end, "it never comes"
        sleep(0.01)


def test_it_follows_what_is_appended(tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    appended(place, 10)
    assert reached(place) == 0
    with built_beside(kept(place), lambda: last(place)):
        for revision in (1000, 2000):
            appended(place, revision, pods=600)
            wait_until(lambda: reached(place) == last(place))


def test_a_log_that_cannot_be_opened_ends_nothing(tmp_path: Path) -> None:
    with built_beside(kept(tmp_path / "none.db"), lambda: 7) as builder:
        sleep(0.1)
        assert builder.is_alive()
        assert builder.built == 0


def test_a_cache_is_stored_once_there_is_much_to_play(tmp_path: Path) -> None:
    place = tmp_path / "log.db"

    def stored() -> list[str]:
        with open_log(place) as store:
            return [what_of(row[5]) for row in store.checkpoints()]

    appended(place, 10, pods=5)
    assert kept(place)("default") == last(place)
    assert "belief" not in stored()
    appended(place, 1000, pods=STRETCH)
    kept(place)("default")
    assert "belief" in stored()


def test_another_process_follows_one_that_was_killed(tmp_path: Path) -> None:
    told, position = tmp_path / "default", [1]
    with built_beside(partial(pid, str(tmp_path)), lambda: position[0]):
        wait_until(lambda: told.exists() and bool(told.read_text("utf-8")))
        first = int(told.read_text("utf-8"))
        assert first != os.getpid()
        os.kill(first, signal.SIGKILL)
        position[0] = 1000
        wait_until(lambda: int(told.read_text("utf-8") or first) != first)


def test_a_build_that_fails_is_tried_again() -> None:
    with built_beside(refuse, lambda: 1) as builder:
        sleep(0.2)
        assert builder.is_alive()
        assert builder.built == 0


@pytest.mark.parametrize(("new", "often"), [(1, False), (1000, True)])
def test_a_few_events_are_not_worth_a_build(tmp_path: Path, new: int, *, often: bool) -> None:
    counted = tmp_path / "calls"
    builder = IndexBuilder(
        spend, cluster=lambda: str(counted), last=lambda: builder.built + new, wait=0.01
    )
    builder.start()
    wait_until(counted.exists)
    if often:
        wait_until(lambda: len(counted.read_text("utf-8")) > 2)
    else:
        sleep(1.0)  # A second build comes after forty seconds.
        assert counted.read_text("utf-8") == "x"
    builder.stop()
    builder.join()

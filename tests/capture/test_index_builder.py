"""The index of a log follows what is appended, and an answer is the same with and without it."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep

from clusters import initial_end, pod, watched
from plinian.engine.log import open_log
from plinian.engine.state.facts import VERSION
from plinian.replay.capture.index_builder import indexed
from plinian.replay.ingest.ingest_run import ingest_at

PATIENCE = 120.0


def appended(place: Path, revision: int) -> None:
    path = place.parent / f"{revision}.jsonl"
    lines = (("ADDED", pod("a", revision)), initial_end(revision + 1))
    path.write_bytes(watched(*lines))
    ingest_at(place, [str(path)])


def reached(place: Path) -> int:
    with open_log(place) as store:
        return store.facts_until(cluster="default", branch="main", version=VERSION)


def last(place: Path) -> int:
    with open_log(place) as store:
        return store.last()


def test_it_follows_what_is_appended(tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    appended(place, 10)
    assert reached(place) == 0
    with indexed(
        str(place), branch="main", cluster=lambda: "default", last=lambda: last(place), wait=0.01
    ):
        for revision in (20, 30):
            appended(place, revision)
            end = monotonic() + PATIENCE
            while reached(place) < last(place):
                assert monotonic() < end, "the index is never built"
                sleep(0.01)


def test_a_log_that_cannot_be_opened_ends_nothing(tmp_path: Path) -> None:
    place = str(tmp_path / "none.db")
    with indexed(
        place, branch="main", cluster=lambda: "default", last=lambda: 7, wait=0.01
    ) as builder:
        sleep(0.1)
        assert builder.is_alive()
        assert builder.built == 0

"""What no index finds is read from a log once, however many moves of a page need it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import plinian
from plinian.engine.events import Recorded
from plinian.engine.log.store import Query
from plinian.replay.facade.log import Log
from plinian.replay.logs.logged_confs import confs_at


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    """Return the log of the demonstration."""
    return plinian.demo(tmp_path_factory.mktemp("once") / "demo.db")


@pytest.fixture
def searched(log: Log, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the kinds of events that the log is searched for from here on."""
    found: list[str] = []
    read = type(log.store).read

    def reading(self: object, query: Query) -> Iterator[Recorded]:
        found.extend(query.kinds or ())
        return read(self, query)  # type: ignore[arg-type]

    monkeypatch.setattr(type(log.store), "read", reading)
    return found


def test_configurations_are_searched_for_once(log: Log, searched: list[str]) -> None:
    end = log.moment("end")
    found = [confs_at(log.store, end) for _ in range(3)]
    assert found[0] == found[1] == found[2] != []
    assert confs_at(log.store, log.moment("rv:900")) == found[0]
    assert searched.count("config.applied") == 1


def test_lists_are_searched_for_once_for_all_objects_of_a_kind(
    log: Log, searched: list[str]
) -> None:
    assert log.history("pod/default/train-a-ps-0").happenings
    searched.clear()
    for name in ("train-a-worker-0", "train-a-worker-1"):
        assert log.history(f"pod/default/{name}").happenings
    assert searched.count("list.observed") == 0


def test_what_is_appended_is_found(tmp_path: Path) -> None:
    conf = tmp_path / "volcano-scheduler.conf"
    conf.write_text('actions: "allocate"\ntiers: []\n', "utf-8")
    with plinian.demo(tmp_path / "demo.db") as log:
        before = confs_at(log.store, log.moment("end"))
        log.ingest([conf])
        assert len(confs_at(log.store, log.moment("end"))) == len(before) + 1

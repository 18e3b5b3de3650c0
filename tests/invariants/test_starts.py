"""A check of one moment is the same from a stored scheduler's cache as from the first event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import plinian
from plinian.engine.invariants.view import ClusterView
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief.stored_belief import build_beliefs
from plinian.replay.invariants import check_task as task
from plinian.replay.invariants import starts
from plinian.replay.invariants.check_task import CheckTask, check
from plinian.replay.invariants.known_objects import Knowledge
from plinian.replay.logs.log import Log
from plinian.replay.moments import ordered_events

RECORDING = Path(__file__).parents[2] / "replay" / "recordings" / "quickstart"
HOW = resolve("v1.12.1")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Give the log of the recording that comes with Plinian, with stored caches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_events, "STRETCH", 200)
        with plinian.open(tmp_path_factory.mktemp("starts") / "it.db", create=True) as log:
            log.ingest(RECORDING)
            build_beliefs(log.store, HOW, branch="main", cluster="default")
            yield log


@pytest.mark.parametrize("tenth", range(1, 11))
def test_from_a_stored_cache_and_from_the_first_event(
    recorded: Log, monkeypatch: pytest.MonkeyPatch, tenth: int
) -> None:
    last = recorded.store.extent(known=recorded.store.last(), cluster="default", branch="main")
    assert last.last_revision is not None
    moment = recorded.moment(f"rv:{last.last_revision * tenth // 10}")
    asked = CheckTask(end=moment, behaviours=HOW, single=True, settle=0)
    used: list[Any] = []
    find = task.begins

    def noted(*given: Any) -> Iterator[Any]:
        for one in find(*given):
            used.append(one)
            yield one

    monkeypatch.setattr(task, "begins", noted)
    from_stored = check(recorded, asked).document
    assert used or tenth < 3
    monkeypatch.setattr(task, "begins", lambda *_: iter(()))
    assert check(recorded, asked).document == from_stored


@pytest.mark.parametrize("tenth", range(1, 11))
def test_the_same_violations_hold_if_it_does_not_matter_since_when(
    recorded: Log, monkeypatch: pytest.MonkeyPatch, tenth: int
) -> None:
    last = recorded.store.extent(known=recorded.store.last(), cluster="default", branch="main")
    moment = recorded.moment(f"rv:{(last.last_revision or 0) * tenth // 10}")
    dated = CheckTask(end=moment, behaviours=HOW, single=True)
    walks: list[bool] = []
    walk = task.LogWalk

    def counted(*given: Any, **named: Any) -> Any:
        walks.append(named["begin"] is None)
        return walk(*given, **named)

    monkeypatch.setattr(task, "LogWalk", counted)
    exact, read = _held(recorded, dated), len(walks)
    walks.clear()
    assert _held(recorded, dated._replace(dated=False)) == exact
    assert len(walks) <= read


def _held(log: Log, asked: CheckTask) -> list[tuple[str, str, str]]:
    """Return the violations that hold, without since when."""
    return sorted(
        (breach.invariant.id, breach.violation.kind, breach.violation.name)
        for breach in check(log, asked).violations
    )


def test_the_jobs_are_those_of_the_cache_that_is_opened(
    recorded: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is stored last may no longer be valid; then an earlier cache is opened."""
    expected = _jobs_at_the_begin(recorded)
    assert expected
    monkeypatch.setattr(starts, "last_stored", lambda *_: 1)  # There are no Jobs yet.
    assert _jobs_at_the_begin(recorded) == expected


def _jobs_at_the_begin(log: Log) -> dict[str, Any]:
    end = log.moment("end")
    begin = next(starts.begins(log, end, HOW, Knowledge(log, end, log.clock(end)), ()))
    view = ClusterView(begin.projector)
    begin.fill(view, {})
    return dict(view.owners.jobs)


def test_where_nothing_can_be_checked_no_event_is_looked_at(
    recorded: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Iterator[Any]:
        raise AssertionError("a cache is opened, or the log is walked through")

    monkeypatch.setattr(task, "begins", fail)
    monkeypatch.setattr(task, "OrderedEvents", fail)
    asked = CheckTask(end=recorded.moment("end"), behaviours=HOW, single=True, ids=("I-19",))
    report = check(recorded, asked)
    assert [left_out.invariant.id for left_out in report.not_checked] == ["I-19"]
    assert (report.violations, report.sessions) == ((), 0)

"""What no object tells, from an input through the log to a session at a point."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from external import (
    DEVICESHARE,
    EXTENDER,
    USAGE,
    VOLCANO,
    added,
    answer,
    config_map,
    job,
    mig_job,
    mig_node,
    node,
    usage,
)

from clusters import watched
from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.replay.ingest.ingest_run import ingest as ingest_paths
from plinian.replay.logs.log import Log, opened
from plinian.replay.sessions.session_answer import session_at

Event = dict[str, Any]
QUEUE = added("Queue", "default", VOLCANO, spec={"weight": 1}, status={"state": "Open"})
UNKNOWN = "usage: no usage of nodes was recorded; none is taken into account"
NO = {"status": "no", "code": 2}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with opened(tmp_path / "log.db", create=True) as made:
        yield made


def clock(second: int) -> str:
    """Return a time as text."""
    return f"2025-11-21T14:{second // 60:02}:{second % 60:02}Z"


def recorded(*events: Event) -> bytes:
    """Return a watch of objects that came one per second, at revisions from 1."""
    told = []
    for number, event in enumerate(events, start=1):
        document = dict(event["object"])
        metadata = {"namespace": "default"} | document["metadata"]
        if document["kind"] in {"Node", "Queue"}:
            del metadata["namespace"]
        document["metadata"] = {
            **metadata,
            "uid": f"uid-{number}",
            "resourceVersion": str(number),
            "managedFields": [{"manager": "m", "time": clock(number)}],
        }
        told.append((event["type"], document))
    return watched(*told)


def ingest(log: Log, tmp_path: Path, conf: str, *events: Event) -> None:
    """Take a configuration, a watch of objects, and records, in three files."""
    objects = [event for event in events if "object" in event]
    records = [msgspec.json.encode(event) + b"\n" for event in events if "object" not in event]
    folder = tmp_path / "inputs"
    folder.mkdir()
    (folder / "volcano-scheduler.conf").write_text(conf)
    (folder / "watch.jsonl").write_bytes(recorded(QUEUE, *objects))
    (folder / "told.jsonl").write_bytes(b"".join(records))
    summary = ingest_paths(log.store, [str(folder)])
    expected = {"scheduler-conf": 1, "watch-stream": 1}
    assert summary.formats == (expected | {"external-inputs": 1} if records else expected)
    again = ingest_paths(log.store, [str(folder)])
    assert again.appended == 0


def session(log: Log, at: str = "end") -> SessionResult:
    """Return what a session at a point decides."""
    return session_at(log, at, release="v1.12.1").result


class TestUsage:
    @pytest.fixture(autouse=True)
    def _recorded(self, log: Log, tmp_path: Path) -> None:
        told = [
            usage("a", 95, observedAt=clock(20)),
            usage("a", 90, observedAt=clock(10)),
            usage("a", 10, observedAt=clock(30)),
        ]
        # Records need not come in the order of their times.
        ingest(log, tmp_path, USAGE, *told, node("a"), *job("j"))

    @pytest.mark.parametrize(("second", "free"), [(9, 1), (10, 0), (29, 0), (30, 1), (31, 1)])
    def test_a_session_has_the_newest_that_was_measured_by_its_time(
        self, log: Log, second: int, free: int
    ) -> None:
        assert len(session(log, clock(second)).binds) == free

    def test_at_a_revision_what_was_measured_by_its_time_counts(self, log: Log) -> None:
        assert session(log, "rv:4").errors == [UNKNOWN]
        assert session(log).errors == []

    def test_what_was_learned_later_does_not_count(self, log: Log, tmp_path: Path) -> None:
        last = log.store.last()
        late = tmp_path / "late.jsonl"
        late.write_bytes(msgspec.json.encode(usage("a", 99, observedAt=clock(31))) + b"\n")
        assert ingest_paths(log.store, [str(late)]).appended == 1
        assert session(log, f"@{last}").binds == [("default/j", "a")]
        assert session(log).binds == []

    def test_at_the_end_the_present_is_when_something_was_told_last(
        self, log: Log, tmp_path: Path
    ) -> None:
        later = tmp_path / "later.jsonl"
        records = [usage("a", 99, observedAt=clock(31)), usage("b", 1, observedAt=clock(332))]
        later.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in records))
        ingest_paths(log.store, [str(later)])
        assert session(log, clock(331)).binds == []
        assert session(log).binds == [("default/j", "a")], "measured over five minutes ago"


class TestAnswers:
    def test_a_session_has_the_newest_answers(self, log: Log, tmp_path: Path) -> None:
        told = [
            answer("default/j a", NO),
            answer("default/j a", {}, observedAt=clock(10)),
            answer("default/j a", None, observedAt=clock(20)),
        ]
        ingest(log, tmp_path, EXTENDER, node("a"), *job("j"), *told)
        assert session(log, clock(9)).binds == []
        assert session(log, clock(9)).errors == []
        assert session(log, clock(10)).binds == [("default/j", "a")]
        assert session(log).binds == []
        assert "no answer to filter about default/j a" in session(log).errors[0]


class TestDevices:
    def test_the_configuration_is_that_of_the_point(self, log: Log, tmp_path: Path) -> None:
        gone = {**config_map(), "type": "DELETED"}
        ingest(log, tmp_path, DEVICESHARE, mig_node("a"), *mig_job("j"), config_map(), gone)
        assert session(log, "rv:4").binds == []
        assert "no device configuration was recorded" in session(log, "rv:4").errors[0]
        assert session(log, "rv:5").binds == [("default/j", "a")]
        assert session(log, "rv:5").errors == []
        assert session(log, "end").binds == []


class TestScenario:
    def test_a_log_of_a_scenario_tells_what_its_simulation_is_told(
        self, log: Log, tmp_path: Path
    ) -> None:
        steps = [
            [node("a"), node("b"), usage("a", 90), *job("j")],
            [usage("a", 10), usage("b", 90)],
        ]
        path = tmp_path / "busy.case.json"
        path.write_bytes(
            msgspec.json.encode({"conf": USAGE, "steps": [{"events": each} for each in steps]})
        )
        ingest_paths(log.store, [str(path)])
        asked = [each.event.revision for each in log.events(kinds=("session.requested",))]
        assert [session(log, f"rv:{revision}").binds for revision in asked] == [
            [("default/j", "b")],
            [("default/j", "a")],
        ]

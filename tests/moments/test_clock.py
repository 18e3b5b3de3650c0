"""The clock of real logs: moments are right, and late evidence changes no state of a revision."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import plinian
from clusters import initial_end, pod, watched
from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import DecisionLogged
from plinian.engine.kubernetes.units import format_time, parse_time
from plinian.engine.log import LogStore, open_log
from plinian.replay.ingest.ingest_run import ingest_at
from plinian.replay.moments.log_clock import clock_of, clock_remarks, store_clock
from plinian.replay.truth.truth import build_index

RECORDING = files("plinian.replay") / "recordings" / "quickstart"
KINDS = {"nodes", "pods", "podgroups", "queues", "jobs"}


class Write(NamedTuple):
    """An accepted write, as the audit log tells it."""

    received: int
    answered: int
    verb: str
    resource: str
    namespace: str
    name: str
    revision: int


def writes() -> Iterator[Write]:
    """Yield the audited writes whose answer has the version, each version at its first."""
    seen: set[tuple[str, ...]] = set()
    with lzma.open(str(RECORDING / "audit.log.xz"), "rt") as lines:
        for record in map(json.loads, lines):
            about, answer = record.get("objectRef") or {}, record.get("responseObject") or {}
            version = (answer.get("metadata") or {}).get("resourceVersion")
            key = (about.get("resource", ""), about.get("name", ""), version or "")
            if (
                record["stage"] != "ResponseComplete"
                or record["verb"] not in {"create", "update", "patch"}
                or about.get("resource") not in KINDS
                or about.get("subresource") not in {None, "status"}
                or not 200 <= record["responseStatus"]["code"] < 300
                or (about["resource"] == "jobs" and about["apiGroup"] != "batch.volcano.sh")
                or not version
                or key in seen
            ):
                continue
            seen.add(key)
            yield Write(
                parse_time(record["requestReceivedTimestamp"]),
                parse_time(record["stageTimestamp"]),
                record["verb"],
                about["resource"],
                about.get("namespace", ""),
                about.get("name") or answer["metadata"]["name"],
                int(version),
            )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make a log of the whole recording."""
    place = str(tmp_path_factory.mktemp("whole") / "log.db")
    ingest_at(place, [str(RECORDING)])
    with open_log(place) as store:
        build_index(store, cluster="default")
    return place


def watches() -> list[str]:
    return sorted(str(one) for one in RECORDING.iterdir() if one.name.startswith("watch-"))


def version_at(log: Any, write: Write, at: int) -> int:
    kind = "jobs.batch.volcano.sh" if write.resource == "jobs" else write.resource
    found = log.entries(kind, at=format_time(at), namespace=write.namespace or None)
    return max((e.revision for e in found if e.reference.name == write.name), default=-1)


def test_an_audited_write_is_seen_after_it_was_answered_and_not_before_it_was_asked(
    whole: str,
) -> None:
    with plinian.open(whole) as log:
        for write in list(writes())[::40]:
            assert version_at(log, write, write.answered + 1000) >= write.revision, write
            assert version_at(log, write, write.received - 1000) < write.revision, write


def test_audited_times_lie_within_what_is_known_without_the_audit_log(tmp_path: Path) -> None:
    place = str(tmp_path / "watch.db")
    ingest_at(place, watches())
    with open_log(place) as store:
        clock = clock_of(store, branch="main", cluster="default")
        checked = 0
        for write in writes():
            (span,) = clock.spans([write.revision])
            if span.estimate is None:
                continue
            checked += 1
            assert span.earliest is None or span.earliest <= write.answered, write
            assert span.latest is None or span.latest >= write.received, write
    assert checked > 100


def test_late_evidence_sharpens_times_and_changes_no_state_of_a_revision(tmp_path: Path) -> None:
    place = str(tmp_path / "log.db")
    ingest_at(place, watches())
    points = [f"rv:{revision}" for revision in range(400, 2000, 200)]

    def widths(store: LogStore) -> list[int]:
        spans = clock_of(store, branch="main", cluster="default").spans(range(400, 2000))
        known = [s for s in spans if s.earliest is not None and s.latest is not None]
        return sorted(s.latest - s.earliest for s in known if s.latest and s.earliest)

    def states() -> list[list[tuple[str, str, str]]]:
        with plinian.open(place) as log:
            watched = [("", "Pod"), ("", "Node"), ("scheduling.volcano.sh", "PodGroup")]
            return [
                [
                    (e.reference.name, e.reference.uid, e.resource_version)
                    for kind in watched
                    for e in log.truth(point).of(*kind)
                ]
                for point in points
            ]

    before = states()
    with open_log(place) as store:
        build_index(store, cluster="default")
        wide = widths(store)
    ingest_at(place, [str(RECORDING / "audit.log.xz")])
    assert states() == before
    with open_log(place) as store:
        build_index(store, cluster="default")
        sharp = widths(store)
    assert states() == before
    assert sharp[len(sharp) // 2] < wide[len(wide) // 2] // 10


def test_a_clock_that_was_dropped_is_the_same_when_made_again(whole: str) -> None:
    with open_log(whole) as store:
        clock = clock_of(store, branch="main", cluster="default")
        before = [clock.spans([r]) for r in range(300, 2000, 50)], clock.mark(2**62)
        store.drop_derived(checkpoints=False, facts=False)
    with open_log(whole) as store:
        built = clock_of(store, branch="main", cluster="default")
        assert ([built.spans([r]) for r in range(300, 2000, 50)], built.mark(2**62)) == before
        store.drop_derived()
    with open_log(whole) as store:
        bare = clock_of(store, branch="main", cluster="default")
        assert ([bare.spans([r]) for r in range(300, 2000, 50)], bare.mark(2**62)) == before
        store_clock(store, branch="main", cluster="default")


def test_many_times_are_those_of_each_in_the_order_asked(whole: str) -> None:
    with open_log(whole, read_only=True) as store:
        clock = clock_of(store, branch="main", cluster="default")
        asked = [1700, 400, -1, 900, 400, 10**9]
        found = clock.times_of(asked)
        assert found == [clock.time_of(revision) for revision in asked]
        assert found[0] != found[1]
        assert found[2] is None


def test_times_never_go_backwards_along_revisions(whole: str) -> None:
    with plinian.open(whole) as log:
        told = [one for one in log.events() if one.event.revision is not None]
        told.sort(key=lambda one: one.event.revision or 0)
        times = [one.span.estimate for one in told if one.span.estimate is not None]
        assert len(times) > 1000
        assert times == sorted(times)


def test_a_deletion_is_one_line_of_history_with_its_actor(whole: str) -> None:
    with plinian.open(whole) as log:
        gone = [
            one
            for one in log.history("pod/train-b-worker-3").happenings
            if one.kind == "pod.deleted"
        ]
        deleted = {one.uid for one in gone}
        assert len(gone) == len(deleted)
        assert all(one.actor and one.time is not None for one in gone)
        node = [o for o in log.history("node/node-4").happenings if o.kind == "node.deleted"]
        assert [one.actor for one in node] == ["kubernetes-admin"]


def test_a_remark_names_an_input_without_its_folders(tmp_path: Path) -> None:
    """A log of a scheduler whose clock is ahead by half a minute, under a folder of a person."""
    created = {"creationTimestamp": "2026-05-28T20:26:40Z"}
    bound = pod("a", 12, **created)
    bound["spec"]["nodeName"] = "n1"
    lines = watched(("ADDED", pod("a", 10, **created)), initial_end(11), ("MODIFIED", bound))
    (tmp_path / "watch.jsonl").write_bytes(lines)
    (tmp_path / "watch.recv").write_text("1780000000\n1780000001\n1780000002\n", "utf-8")
    told = Event(
        kind="decision.logged",
        reference=Reference("", "Pod", "default", "a"),
        payload=canonical_json(DecisionLogged(component="scheduler", verb="allocate", task="a")),
        earliest=1_780_000_032_000_000,
        latest=1_780_000_032_000_000,
        source="/home/alice/scheduler.log (scheduler)",
    )
    ingest_at(tmp_path / "log.db", [str(tmp_path / "watch.jsonl")])
    with open_log(tmp_path / "log.db") as store:
        store.append([told])
        (remark,) = clock_remarks(store, branch="main", cluster="default")
    assert remark.startswith("scheduler.log (scheduler): 1 time contradicts")

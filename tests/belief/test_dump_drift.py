"""Dumps of a real scheduler's cache, held against the cache that is rebuilt."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest
from recorded_cluster import RecordedCluster

from plinian.engine.cache.drift.dump_drift import dump_mismatches
from plinian.engine.cache.drift.dumped_cache import DumpedCache, read_dump
from plinian.engine.errors import UsageError
from sessions import cache_of, group, node, pod, queue

REAL = Path(__file__).parents[2] / "docs/how-to/snapshot-1795226284.json.gz"
CLUSTER = [
    queue("default"),
    node("n1", cpu=8),
    group("g", min_member=2, phase="Running"),
    pod("a", "g", cpu=3, on="n1"),
    pod("b", "g", cpu=2),
]
RUNNING, PENDING = 1 << 5, 1 << 0


def amounts(cpu: float, memory: float = 0, pods: int = 0) -> dict[str, Any]:
    """Return a vector as a dump has it."""
    return {"MilliCPU": cpu, "Memory": memory, "ScalarResources": {"pods": pods}}


def task(name: str, status: int, on: str = "") -> dict[str, Any]:
    return {"Namespace": "ns", "Name": name, "Status": status, "NodeName": on}


def parts(**changes: Any) -> dict[str, Any]:
    """Return the dump of the cluster, with another node or job."""
    memory = 16 * 2**30
    known = {
        "Allocatable": amounts(8000, memory, 110),
        "Used": amounts(3000, 0, 1),
        "Idle": amounts(5000, memory, 109),
        "Releasing": amounts(0),
        "Pipelined": amounts(0),
        "Tasks": {"ns/a": task("a", RUNNING, "n1")},
    }
    job = {
        "Queue": "default",
        "MinAvailable": 2,
        "Allocated": amounts(3000, 0, 1),
        "TotalRequest": amounts(5000, 0, 2),
        "Tasks": {"1": task("a", RUNNING, "n1"), "2": task("b", PENDING)},
    }
    nodes = {"n1": {**known, **changes.get("node", {})}}
    return {"nodes": nodes, "jobs": {"ns/g": {**job, **changes.get("job", {})}}}


def dumped(**changes: Any) -> DumpedCache:
    found = read_dump(parts(**changes))
    assert found is not None
    return found


def test_a_dump_of_a_real_scheduler_is_read() -> None:
    names = ("nodes", "hypernodes-by-tier", "real-nodes", "hypernodes", "jobs")
    lines = gzip.decompress(REAL.read_bytes()).splitlines()
    found = read_dump(dict(zip(names, map(msgspec.json.decode, lines), strict=True)))
    assert found is not None
    assert found.jobs
    assert found.nodes["node-0"].used.by_name() == {"cpu": 200, "memory": 209715200, "pods": 2}
    states = {one.state for each in found.nodes.values() for one in each.tasks.values()}
    assert "Running" in states


@pytest.mark.parametrize("bad", [{}, {"nodes": []}, {"nodes": {"n1": {"Used": 3}}}])
def test_what_is_no_dump_is_none(bad: dict[str, Any]) -> None:
    assert read_dump(bad) is None


def test_a_dump_that_is_as_rebuilt_has_no_difference() -> None:
    assert dump_mismatches(dumped(), cache_of(*CLUSTER), lambda *_: False) == ([], 2)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"node": {"Used": amounts(1000, 0, 1)}}, [("Node", "n1", "used.cpu", "1", "3")]),
        ({"node": {"Tasks": {}}}, [("Node", "n1", "pods[ns/a]", None, "Running")]),
        ({"job": {"Queue": "q"}}, [("PodGroup", "ns/g", "queue", "q", "default")]),
        ({"job": {"MinAvailable": 1}}, [("PodGroup", "ns/g", "min_available", "1", "2")]),
        (
            {"job": {"Tasks": {"1": task("a", 1 << 6, "n1"), "2": task("b", PENDING)}}},
            [("PodGroup", "ns/g", "pods[ns/a]", "Releasing on n1", "Running on n1")],
        ),
    ],
)
def test_each_difference_is_named(changes: dict[str, Any], expected: list[Any]) -> None:
    found, _ = dump_mismatches(dumped(**changes), cache_of(*CLUSTER), lambda *_: False)
    assert [tuple(mismatch) for mismatch in found] == expected


def test_what_changed_about_then_is_not_compared() -> None:
    wrong = dumped(node={"Used": amounts(0)}, job={"Queue": "q"})
    for moving, left in ((("Pod", "ns/a"), 0), (("Node", "n1"), 1), (("PodGroup", "ns/g"), 1)):
        found, compared = dump_mismatches(
            wrong, cache_of(*CLUSTER), lambda *which, moving=moving: which == moving
        )
        assert compared == left
        assert bool(found) == bool(left)


def test_one_side_may_lack_an_object() -> None:
    only_dumped = read_dump({**parts(), "nodes": {}})
    assert only_dumped is not None
    found, _ = dump_mismatches(only_dumped, cache_of(*CLUSTER), lambda *_: False)
    assert [tuple(mismatch) for mismatch in found] == [("Node", "n1", "", None, "there")]


@pytest.mark.parametrize(
    ("changes", "fields"), [({}, []), ({"job": {"MinAvailable": 1}}, ["min_available"])]
)
def test_drift_holds_the_last_dump_against_the_rebuilt_cache(
    tmp_path: Path, changes: dict[str, Any], fields: list[str]
) -> None:
    made = RecordedCluster()
    made.saw(1, *CLUSTER)
    made.dumped(10, parts(job={"Queue": "old"}))
    made.dumped(20, parts(**changes))
    made.saw(30, group("h"))
    with made.log(tmp_path / "log.db") as log:
        found = log.drift(dump=True)
        earlier = log.drift(at="rv:5", dump=False)
        with pytest.raises(UsageError, match="no dump"):
            log.drift(at="rv:5", dump=True)
    assert [each.field for each in found.differences] == fields
    assert (found.compared, earlier.compared) == (2, None)

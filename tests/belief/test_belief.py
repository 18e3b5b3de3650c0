"""Belief out of a real log is what the scheduler itself wrote down of its cache."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clusters import recorded
from plinian.engine.cache.drift.drift import CacheComparison
from plinian.engine.cache.projector import WATCHED
from plinian.engine.cache.snapshot import Snapshot
from plinian.engine.model.task_status import STATUS_NAMES
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief.belief import belief_at
from plinian.replay.belief.logged_drift import CacheDifference, drift_at
from plinian.replay.ingest.ingest_run import ingest
from plinian.replay.logs.log import Log, opened

RELEASE = "v1.12.1"
RECORDING = Path(__file__).parents[2] / "replay" / "recordings" / "quickstart"
BELIEVED: list[dict[str, Any]] = json.loads(recorded("believed-v1.12.1.json.gz"))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Give the log of the demonstration: watches, audit log, logs of components."""
    place = tmp_path_factory.mktemp("belief") / "log.db"
    with opened(place, create=True) as made:
        ingest(made.store, [str(RECORDING)])
        yield made


@pytest.mark.parametrize("believed", BELIEVED, ids=lambda believed: f"rv:{believed['revision']}")
def test_belief_is_what_the_scheduler_dumped(log: Log, believed: dict[str, Any]) -> None:
    moment = log.moment(f"rv:{believed['revision']}")
    taken = belief_at(log.store, moment, resolve(RELEASE)).snapshot()
    assert nodes_of(taken) == believed["nodes"]
    assert jobs_of(taken) == believed["jobs"]


def nodes_of(taken: Snapshot) -> dict[str, Any]:
    """Return nodes as they are written down in the slice of the dumps."""
    nodes = taken.nodes
    return {
        name: {
            **{
                account: _amounts(taken, getattr(nodes, account)[row])
                for account in ("allocatable", "idle", "used", "releasing")
            },
            "tasks": {key: STATUS_NAMES[status] for key, (_, status) in nodes.tasks(row).items()},
        }
        for row, name in enumerate(nodes.names)
    }


def jobs_of(taken: Snapshot) -> dict[str, Any]:
    """Return jobs as they are written down in the slice of the dumps."""
    jobs, tasks = taken.jobs, taken.tasks
    return {
        key: {
            "uid": jobs.info[row].uid,
            "queue": jobs.queue[row],
            "priority": int(jobs.priority[row]),
            "min_available": int(jobs.min_available[row]),
            "phase": jobs.phase[row],
            "allocated": _amounts(taken, jobs.allocated[row]),
            "total_request": _amounts(taken, jobs.total_request[row]),
            "tasks": {
                tasks.info[task].uid: STATUS_NAMES[tasks.status[task]] for task in jobs.tasks[row]
            },
        }
        for row, key in enumerate(jobs.keys)
    }


def _amounts(taken: Snapshot, row: Any) -> dict[str, float]:
    return {name: amount for name, amount in zip(taken.dims, row.tolist(), strict=True) if amount}


def test_belief_and_truth_agree_where_nothing_odd_happened(log: Log) -> None:
    found = drift_at(log.store, log.moment("end"), resolve(RELEASE))
    assert (found.differences, found.crashes, found.release) == ([], [], RELEASE)


@pytest.mark.parametrize("at", ["rv:600", "rv:1000", "rv:1500", "2026-11-21T01:54:00Z", "end"])
def test_informers_that_are_never_late_hold_the_truth(log: Log, at: str) -> None:
    moment = log.moment(at)
    stores = belief_at(log.store, moment, resolve(RELEASE)).stores
    truth = log.truth(moment)
    for (kind_group, kind), decoded in WATCHED.items():
        held = {(item.uid, item.metadata.resource_version) for item in stores.of(kind).values()}
        true = {
            (entry.reference.uid, entry.resource_version) for entry in truth.of(kind_group, kind)
        }
        assert held == true, decoded


def scenario(place: Path, *steps: list[dict[str, Any]]) -> Log:
    """Return a log of a scenario without sessions; a step is a list of events."""
    case = place / "it.case.json"
    told = [{"events": events, "noSession": True} for events in steps]
    case.write_text(json.dumps({"name": "it", "steps": told}))
    log = opened(place / "log.db", create=True)
    ingest(log.store, [str(case)])
    return log


def added(kind: str, name: str, how: str = "ADDED", **rest: Any) -> dict[str, Any]:
    """Return an event about an object."""
    metadata = {"name": name, **rest.pop("metadata", {})}
    api = {"PodGroup": "scheduling.volcano.sh/v1beta1", "PriorityClass": "scheduling.k8s.io/v1"}
    return {
        "type": how,
        "object": {"apiVersion": api.get(kind, "v1"), "kind": kind, "metadata": metadata, **rest},
    }


def node(name: str, how: str = "ADDED", **metadata: Any) -> dict[str, Any]:
    """Return an event about a node of eight cores."""
    allocatable = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    return added("Node", name, how, metadata=metadata, status={"allocatable": allocatable})


def pod(name: str, on: str = "", how: str = "ADDED", phase: str = "Running") -> dict[str, Any]:
    """Return an event about a pod of the PodGroup ``g`` that asks for a core."""
    spec = {
        "schedulerName": "volcano",
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
        **({"nodeName": on} if on else {}),
    }
    group = {"annotations": {"scheduling.k8s.io/group-name": "g"}}
    return added("Pod", name, how, metadata=group, spec=spec, status={"phase": phase})


def compared(one: CacheDifference) -> tuple[str, str, str, str | None, str | None]:
    """Return a difference without its event."""
    return one.kind, one.name, one.field, one.truth, one.belief


def test_a_node_that_came_back_lacks_its_pods_until_one_of_them_changes(tmp_path: Path) -> None:
    gone, back = node("n1", "DELETED"), node("n1")
    with scenario(tmp_path, [node("n1"), pod("a", "n1")], [gone], [back], [back]) as log:
        found = drift_at(log.store, log.moment("end"), resolve(RELEASE)).differences
        told = {(one.name, one.field): (one.truth, one.belief) for one in found}
        assert told == {
            ("n1", "pods[default/a]"): ("default-a", None),
            ("n1", "used.cpu"): ("1", "0"),
            ("n1", "used.pods"): ("1", "0"),
        }
        since = {one.since for one in found}
        assert [event.event.kind for event in log.events(after=since.pop() - 1, limit=1)] == [
            "node.created"
        ]
        assert since == set()


def test_a_difference_goes_when_the_scheduler_starts_anew(tmp_path: Path) -> None:
    odd = [node("n1"), pod("a", "n1"), node("n1", "DELETED"), node("n1")]
    with scenario(tmp_path, odd, [{"type": "RESTART"}]) as log:
        assert drift_at(log.store, log.moment("end"), resolve(RELEASE)).differences == []
        before = log.moment("rv:6")
        assert drift_at(log.store, before, resolve(RELEASE)).differences != []


def test_a_default_priority_may_outlive_its_class_or_die_with_another(tmp_path: Path) -> None:
    one = added("PriorityClass", "one", value=1, globalDefault=True)
    two = added("PriorityClass", "two", value=2, globalDefault=True)
    gone = added("PriorityClass", "one", "DELETED", value=1, globalDefault=True)
    with scenario(tmp_path, [one, two], [gone]) as log:
        found = drift_at(log.store, log.moment("end"), resolve(RELEASE)).differences
        assert list(map(compared, found)) == [("PriorityClass", "", "default", "2", "0")]


def test_what_an_annotation_granted_once_is_taken_for_granted(tmp_path: Path) -> None:
    granted = node("n1", annotations={"volcano.sh/oversubscription-cpu": "500"})
    with scenario(tmp_path, [granted], [node("n1", "MODIFIED")]) as log:
        found = drift_at(log.store, log.moment("end"), resolve(RELEASE)).differences
        assert list(map(compared, found)) == [("Node", "n1", "allocatable.cpu", "8", "8500m")]


def test_a_held_cleanup_keeps_the_job_of_which_nothing_is_left(tmp_path: Path) -> None:
    group = added("PodGroup", "g", spec={"minMember": 1, "queue": "default"})
    gone = {**group, "type": "DELETED"}
    with scenario(
        tmp_path, [{"type": "CLEANUP_HOLD"}, group, gone], [{"type": "CLEANUP_RUN"}]
    ) as log:
        held = belief_at(log.store, log.moment("rv:5"), resolve(RELEASE))
        assert [job.key for job in held.job_cache.deleted_jobs.ready()] == ["default/g"]
        assert list(held.jobs) == ["default/g"]
        end = belief_at(log.store, log.moment("end"), resolve(RELEASE))
        assert (end.jobs, len(end.job_cache.deleted_jobs)) == ({}, 0)


def test_history_and_a_look_at_the_end_find_the_same(tmp_path: Path) -> None:
    steps = [
        node("n1"),
        pod("a", "n1"),
        pod("b"),
        node("n1", "DELETED"),
        pod("c", "n2"),
        node("n1"),
    ]
    with scenario(tmp_path, steps) as log:
        moment = log.moment("end")
        cache = belief_at(log.store, moment, resolve(RELEASE))
        found = list(map(compared, drift_at(log.store, moment, resolve(RELEASE)).differences))
        assert found == CacheComparison(cache, cache.stores).all()
        assert len(found) == 3

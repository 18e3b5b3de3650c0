"""The first sentence of ``why`` about jobs: partly running, lacking pods, being restarted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES, OTHER, PROPORTION, Document, log_of, owned, watched_log

from plinian.engine.volcano.session.history import resolve
from plinian.replay.answers.records import PodGroupState, QueueState
from plinian.replay.answers.why import why_at
from plinian.replay.belief.logged_drift import drift_at
from plinian.replay.ingest.ingest_run import ingest
from sessions import document, group, node, pod, queue

WORLD = (node("n1", 4), queue("default"))


MAKER = "Volcano's job controller"
AGAIN = "creates them again"


def a_job(phase: str, **spec: Any) -> Document:
    """Return the job ``train`` of Volcano."""
    return document("Job", "train", "ns", spec=spec, status={"state": {"phase": phase}})


def of_task(made: Document, task: str) -> Document:
    """Return a pod as one of a task."""
    made["metadata"]["annotations"]["volcano.sh/task-spec"] = task
    return made


def test_a_job_that_runs_with_some_of_its_pods(ask: Any) -> None:
    running = [pod(f"w-{number}", "pg", 2, "n1") for number in range(2)]
    some = (owned(group("pg", 1, "Running"), "train"), *running, pod("w-2", "pg", 2))
    found = ask("job/train", PROPORTION, *WORLD, *some, a_job("Running"))
    assert found.sentence == (
        "job ns/train runs with 2 pods, and 1 more waits because its queue default may not exceed "
        "its share (plugin proportion): it deserves 4 cpu and holds 4, and needs 2 more; all nodes "
        "together "
        "have 4; also, the only node does not take it: n1 lacks 2 cpu"
    )


def test_a_task_without_pods_and_the_task_that_it_depends_on(ask: Any) -> None:
    tasks = [
        {"name": "master", "replicas": 1},
        {"name": "worker", "replicas": 2, "dependsOn": {"name": ["master"]}},
    ]
    gang = group("pg", 3, minTaskMember={"master": 1, "worker": 2})
    some = (owned(gang, "train"), of_task(pod("m-0", "pg"), "master"))
    found = ask("job/train", PROPORTION, *WORLD, *some, a_job("Pending", tasks=tasks))
    assert found.sentence == (
        "job ns/train waits because its gang needs 3 pods at once, and has only 1 (1 Pending): "
        "task worker has 0 of 2, and task worker gets no pods before task master is ready"
    )


@pytest.mark.parametrize(
    ("phase", "waits", "says"),
    [
        ("Aborting", False, " is Aborting: Volcano's job controller deletes its pods"),
        ("Aborted", False, " does not wait: it is Aborted, until somebody resumes it"),
        (
            "Restarting",
            True,
            f" waits because it is Restarting: {MAKER} deletes its pods, and then {AGAIN}",
        ),
    ],
)
def test_a_job_that_its_controller_ends(ask: Any, phase: str, *, waits: bool, says: str) -> None:
    world = (*WORLD, owned(group("pg", 1, "Pending"), "train"), OTHER)
    found = ask("job/train", PROPORTION, *world, a_job(phase))
    assert found.sentence == f"job ns/train{says}"
    assert found.waits is waits


@pytest.mark.parametrize(
    ("phase", "is_one"), [("Completed", True), ("Aborting", True), ("Restarting", False)]
)
def test_earlier_sessions_are_not_run_for_a_job_that_has_ended(
    tmp_path: Path, phase: str, *, is_one: bool
) -> None:
    made = (*WORLD, owned(group("pg", 1, "Pending"), "train"), pod("w-0", "pg", 8))
    changes = (("MODIFIED", a_job("Pending", queue="default")), ("MODIFIED", a_job(phase)))
    events = (*(("ADDED", one) for one in (*made, a_job("Running"))), *changes)
    with watched_log(tmp_path, PROPORTION, *events) as log:
        answer = why_at(log, log.object("job/train"), namespace="ns", release="v1.12.1")
    assert (answer.sessions == 1) is is_one


def test_the_pods_that_the_session_evicts_are_named(ask: Any) -> None:
    reclaims = CAPACITY.replace("allocate, backfill", "allocate, reclaim")
    found = ask(
        "podgroup/pg",
        reclaims,
        node("n1", 4),
        queue("root"),
        queue("default", parent="root"),
        queue("rich", parent="root", deserved={"cpu": "1"}, reclaimable=True),
        queue("poor", parent="root", deserved={"cpu": "3"}),
        group("old", 1, "Running", queue="rich"),
        *(pod(f"old-{number}", "old", 2, "n1") for number in range(2)),
        group("pg", 1, queue="poor"),
        pod("a", "pg", 2),
    )
    assert found.sentence == (
        "podgroup ns/pg waits until pod ns/old-0, which this session evicts, frees resources: 1 "
        "pod of it will go to node n1"
    )


def test_what_a_queue_holds_only_by_the_plan_of_this_session_is_marked(ask: Any) -> None:
    gang = (group("pg", 3), *(pod(f"a{number}", "pg", 1) for number in range(3)))
    found = ask("podgroup/pg", PROPORTION, node("n1", 2), queue("default"), *gang)
    said = "holds 2, and needs 1 more (podgroup ns/pg holds 2, as planned in this session)"
    assert said in found.sentence


def test_a_queue_at_its_capability_says_so(ask: Any) -> None:
    full = queue("default", capability={"cpu": "2"})
    old = (group("old", 1, "Running"), pod("old", "old", 2, "n1"))
    found = ask("pod/a", PROPORTION, node("n1"), full, *old, group("pg", 1), pod("a", "pg", 2))
    assert found.sentence == (
        "pod ns/a waits because its queue default may not exceed its share (plugin proportion): it "
        "deserves 2 cpu, its "
        "capability, and holds 2, and needs 2 more (podgroup ns/old holds 2)"
    )


def test_more_gpus_are_reserved_than_all_nodes_have(ask: Any) -> None:
    gang = group("pg", 1, "Pending", minResources={"nvidia.com/gpu": "8"})
    found = ask("podgroup/pg", PROPORTION, *WORLD, OTHER, gang)
    assert found.sentence.endswith(
        "it wants 8 nvidia.com/gpu, 0 are left; no node has nvidia.com/gpu"
    )


def test_a_job_above_the_capability_of_its_queue_waits_for_more_than_room(ask: Any) -> None:
    small = queue("default", capability={"cpu": "3"})
    gang = group("pg", 1, "Pending", minResources={"cpu": "9"})
    found = ask("podgroup/pg", PROPORTION, node("n1", 4), small, OTHER, gang)
    assert found.sentence.endswith(
        "it wants 9 cpu, 4.8 are left; all nodes together have 4; also, its queue "
        "default may use no more than 3 cpu"
    )


def test_a_pod_that_is_larger_than_every_node(ask: Any) -> None:
    old = (group("old", 1, "Running"), pod("old", "old", 1, "n1"))
    found = ask("pod/a", NODES, *WORLD, *old, group("pg", 1), pod("a", "pg", 6))
    assert found.sentence == (
        "pod ns/a waits because the only node does not take it: n1 lacks 3 cpu; no node has 6 cpu, "
        "even when it is empty"
    )
    fits = ask("pod/b", NODES, *WORLD, *old, group("pg", 1), pod("b", "pg", 4))
    assert fits.sentence.endswith("n1 lacks 1 cpu")


def test_what_the_next_session_places_is_said_of_each_pod_of_the_first_ones(ask: Any) -> None:
    pods = [pod(f"w-{number:02}", "pg", 1) for number in range(20)]
    found = ask("podgroup/pg", PROPORTION, node("n1", 40), queue("default"), group("pg", 20), *pods)
    texts = [link.text for link in found.chain]
    placed = [text for text in texts if text.startswith("the session at this moment binds pod ns/")]
    assert len(set(placed)) == 16
    assert "the session at this moment binds pod ns/w-00 to node n1" in placed
    assert "the session places 4 more pods of it" in texts


def named_by(made: Document, where: str = "annotations") -> Document:
    """Return a pod that names the job ``train``, by label or by annotation."""
    made["metadata"].setdefault(where, {})["volcano.sh/job-name"] = "train"
    return made


@pytest.mark.parametrize("where", ["labels", "annotations"])
def test_the_podgroup_of_a_job_is_also_the_one_that_its_pods_name(ask: Any, where: str) -> None:
    pods = [named_by(pod(f"w-{number}", "train-u1", 1, "n1"), where) for number in range(2)]
    gang = group("train-u1", 2, "Running")
    found = ask("job/train", PROPORTION, *WORLD, gang, *pods, a_job("Running"))
    assert found.sentence == "job ns/train does not wait: its PodGroup is Running, pods: 2 Running"
    assert not found.waits


def test_the_podgroup_with_the_uid_of_a_job_is_its_own(ask: Any) -> None:
    job = a_job("Pending")
    job["metadata"]["uid"] = "u-2"
    groups = [group(f"train-u-{number}", 1, "Inqueue") for number in (1, 2)]
    old = named_by(pod("w-0", "train-u-1", 1, "n1"))
    found = ask("job/train", PROPORTION, *WORLD, *groups, old, job)
    assert found.sentence.startswith("job ns/train waits because none of its pods exists")
    named = [link.podgroup for link in found.chain if hasattr(link, "podgroup")]
    assert named[0] == "ns/train-u-2"


@pytest.mark.parametrize(("phase", "rests"), [("Running", True), ("Pending", False), ("", False)])
def test_a_job_without_podgroup_waits_unless_it_runs(ask: Any, phase: str, *, rests: bool) -> None:
    found = ask("job/train", PROPORTION, *WORLD, group("other", 1), a_job(phase))
    assert found.waits is not rests
    assert ("waits" in found.sentence) is not rests
    assert any(link.blocks for link in found.chain) is not rests


@pytest.mark.parametrize(("release", "waits"), [("v1.12.1", True), ("v1.15.1", False)])
def test_a_role_that_the_podgroup_does_not_name_any_more(
    tmp_path: Path, release: str, *, waits: bool
) -> None:
    role = {"volcano.sh/task-spec": "b"}
    made = (node("n1"), queue("default"), group("pg", 1, minTaskMember={"a": 1, "b": 1}))
    now = group("pg", 1, minTaskMember={"b": 1})
    changes = (("MODIFIED", now), ("ADDED", pod("b-0", "pg", annotations=role)))
    with watched_log(tmp_path, NODES, *(("ADDED", one) for one in made), *changes) as log:
        found = why_at(log, log.object("podgroup/pg"), namespace="ns", release=release)
    assert ("0 of 1 a exist" in found.sentence) is waits
    assert ("does not name a any more, but the scheduler keeps" in found.sentence) is waits


def test_a_role_that_only_the_cache_has_is_drift(tmp_path: Path) -> None:
    made = (node("n1"), queue("default"), group("pg", 1, minTaskMember={"a": 1, "b": 1}))
    now = group("pg", 1, minTaskMember={"b": 1})
    with watched_log(tmp_path, NODES, *(("ADDED", one) for one in made), ("MODIFIED", now)) as log:
        found, none = (
            drift_at(log.store, log.moment(), resolve(release)).differences
            for release in ("v1.12.1", "v1.15.1")
        )
    assert none == []
    (one,) = found
    assert (one.kind, one.name, one.field) == ("PodGroup", "ns/pg", "minTaskMember[a]")
    assert (one.truth, one.belief) == (None, "1")


def test_the_podgroup_of_a_job_that_has_ended_waits_for_nothing(ask: Any) -> None:
    failed = group("train-uid-train", 2, "Unknown")
    world = (*WORLD, a_job("Failed"), owned(failed, "train"), pod("m", "train-uid-train", 1, "n1"))
    job = world[2]
    job["metadata"]["uid"] = "uid-train"
    found = ask("podgroup/train-uid-train", NODES, *world)
    assert found.sentence == (
        "podgroup ns/train-uid-train does not wait: its job ns/train is Failed"
    )
    assert (found.waits, found.cause) == (False, "ended")
    assert ask("job/train", NODES, *world).sentence == "job ns/train does not wait: it is Failed"


def test_a_podgroup_without_a_queue_is_in_that_of_the_schedulers_command_line(
    tmp_path: Path,
) -> None:
    start = "I1121 01:00:00.000000       1 flags.go:64] FLAG: --"
    (tmp_path / "volcano-scheduler.log").write_text(
        f'{start}default-queue="batch"\n{start}scheduler-conf="x"\n'
    )
    world = (node("n1", 4), queue("batch"), group("pg", 1, queue=""), pod("p", "pg", 9))
    with log_of(tmp_path, PROPORTION, *world) as log:
        ingest(log.store, [str(tmp_path / "volcano-scheduler.log")])
        found = why_at(log, log.object("podgroup/pg"), namespace="ns", release="v1.12.1")
    assert found.cause == "queue-full batch"
    (state,) = [link for link in found.chain if isinstance(link, PodGroupState)]
    assert state.queue == "batch"
    assert [link.queue for link in found.chain if isinstance(link, QueueState)] == ["batch"]

"""The gang plugin: minimum of tasks, spare tasks, and what it writes at the close."""

from __future__ import annotations

import numpy as np

from plinian.engine.model.session_tables import TaskStatus
from plinian.engine.session.framework import framework_orders as orders
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.session import Session
from sessions import group, job, names, node, opened, pod, queue, tasks

NODE, QUEUE = node("n1"), queue("default")


def conditions(ssn: Session, name: str) -> list[tuple[str, str, str]]:
    """Return (type, reason, message) of the conditions that the session wrote to a PodGroup."""
    return [(c.type, c.reason, c.message) for c in ssn.conditions.get(job(ssn, name), [])]


def test_a_job_needs_as_many_tasks_as_its_minimum() -> None:
    ssn, _ = opened(
        "gang", NODE, QUEUE, group("a", 2), pod("a-0", "a"), group("b"), pod("b-0", "b")
    )
    objection = voting.job_valid(ssn, job(ssn, "a"))
    assert objection is not None
    assert objection.message == ("Not enough valid tasks for gang-scheduling, valid: 1, min: 2")
    assert voting.job_valid(ssn, job(ssn, "b")) is None


def test_each_role_needs_its_own_minimum() -> None:
    role = {"volcano.sh/task-spec": "worker"}
    ssn, _ = opened(
        "gang",
        NODE,
        QUEUE,
        group("a", 2, minTaskMember={"worker": 2}),
        pod("a-0", "a", annotations=role),
        pod("a-1", "a"),
    )
    objection = voting.job_valid(ssn, job(ssn, "a"))
    assert objection is not None
    assert objection.message == "Not enough valid pods of each task for gang-scheduling"


def test_jobs_that_are_not_ready_come_first() -> None:
    ssn, _ = opened(
        "gang", NODE, QUEUE, group("a"), pod("a-0", "a", on="n1"), group("b"), pod("b-0", "b")
    )
    ready, waiting = job(ssn, "a"), job(ssn, "b")
    assert orders.job_order(ssn, waiting, ready)
    assert not orders.job_order(ssn, ready, waiting)
    assert voting.job_ready(ssn, ready)
    assert not voting.job_ready(ssn, waiting)
    assert voting.job_starving(ssn, waiting)
    assert not voting.job_pipelined(ssn, waiting)


def test_only_tasks_beyond_the_minimum_can_be_spared() -> None:
    ssn, _ = opened(
        "gang",
        NODE,
        QUEUE,
        group("a", 2),
        *(pod(f"a-{n}", "a", on="n1") for n in range(3)),
        group("b"),
        *(pod(f"b-{n}", "b", on="n1") for n in range(2)),
        group("c"),
        pod("c-0", "c"),
    )
    candidates = tasks(ssn, "a-2", "b-1", "a-1", "b-0", "a-0")
    (preemptor,) = tasks(ssn, "c-0")
    assert names(ssn, voting.preemptable(ssn, preemptor, candidates)) == ["a-2", "b-1"]
    assert names(ssn, voting.reclaimable(ssn, preemptor, candidates)) == ["a-2", "b-1"]


def test_no_task_that_can_be_spared_is_left_out_before_the_vote() -> None:
    """Up to v1.8 a pending task without requests is ready, and spares another of its gang."""
    ssn, _ = opened(
        "gang",
        NODE,
        QUEUE,
        group("a", 2),
        *(pod(f"a-{n}", "a", on="n1") for n in range(2)),
        pod("a-2", "a", cpu=0),
        group("b"),
        pod("b-0", "b"),
        release="v1.8.2",
    )
    ((_, entry),) = ssn.registry.flat("Preemptable")
    (preemptor,), candidates = tasks(ssn, "b-0"), tasks(ssn, "a-0", "a-1")
    assert names(ssn, entry.function(preemptor, candidates)[0]) == ["a-0"]
    assert entry.may(preemptor, np.array(candidates)).tolist() == [True, True]


def test_the_close_says_which_gangs_lack_tasks() -> None:
    ssn, plugins = opened(
        "gang",
        NODE,
        QUEUE,
        group("a", 3),
        pod("a-0", "a"),
        pod("a-1", "a", on="n1"),
        group("b"),
        pod("b-0", "b", on="n1"),
        group("empty"),
    )
    plugins["gang"].on_session_close(ssn)
    (unschedulable,) = conditions(ssn, "a")
    assert unschedulable[:2] == ("Unschedulable", "NotEnoughResources")
    assert unschedulable[2].startswith(
        "2/2 tasks in gang unschedulable: pod group is not ready, 1 Pending, 1 Running,"
        " 3 minAvailable"
    )
    assert conditions(ssn, "b") == [("Scheduled", "tasks in gang are ready to be scheduled", "")]
    assert conditions(ssn, "empty") == []


def test_a_task_that_had_a_node_before_the_discard_does_not_count_as_lacking() -> None:
    ssn, plugins = opened("gang", NODE, QUEUE, group("a", 2), pod("a-0", "a"), pod("a-1", "a"))
    (task,) = tasks(ssn, "a-0")
    ssn.tasks.last_transaction[task] = (TaskStatus.ALLOCATED, 0, False)
    plugins["gang"].on_session_close(ssn)
    assert conditions(ssn, "a")[0][2].startswith("1/2 tasks in gang unschedulable: ")


def test_a_condition_that_is_there_already_is_left_alone() -> None:
    said = {
        "type": "Scheduled",
        "status": "True",
        "reason": "tasks in gang are ready to be scheduled",
    }
    ssn, plugins = opened(
        "gang", NODE, QUEUE, group("a", status={"conditions": [said]}), pod("a-0", "a", on="n1")
    )
    plugins["gang"].on_session_close(ssn)
    assert ssn.conditions == {}

"""A job is what its PodGroup says, and the tasks that name it."""

from __future__ import annotations

import pytest

from plinian.engine.kubernetes.objects import Pod, PodGroup, decode
from plinian.engine.model.job import DisruptionBudget, JobInfo
from plinian.engine.model.panic import Panic
from plinian.engine.model.task import TaskBuilder, TaskInfo
from plinian.engine.model.task_classes import TaskClasses
from plinian.engine.model.task_status import TaskStatus
from sessions import group, pod


def job(**annotations: str) -> JobInfo:
    """Return a job whose PodGroup has these annotations; ``_`` stands for other characters."""
    named = {"waiting": "sla-waiting-time", "ours": "volcano.sh/sla-waiting-time"}
    made = JobInfo("ns/g")
    marks = {
        named.get(name, f"volcano.sh/{name.replace('_', '-')}"): text
        for name, text in annotations.items()
    }
    made.set_pod_group(decode(PodGroup, group("g", annotations=marks)), "default")
    return made


def task(name: str = "a", cpu: int = 1, status: TaskStatus = TaskStatus.PENDING) -> TaskInfo:
    """Return a task of the job."""
    made = TaskBuilder(TaskClasses()).task(decode(Pod, pod(name, "g", cpu=cpu)))
    made.status = status
    return made


@pytest.mark.parametrize(
    ("annotations", "waiting"),
    [
        ({"waiting": "1m"}, 60 * 10**9),
        ({"ours": "2m", "waiting": "1m"}, 120 * 10**9),
        ({"ours": "soon", "waiting": "1m"}, 60 * 10**9),
        ({"ours": "-2m", "waiting": "1m"}, 60 * 10**9),
        ({"waiting": "0s"}, None),
        ({}, None),
    ],
)
def test_how_long_a_job_may_wait(annotations: dict[str, str], waiting: int | None) -> None:
    assert job(**annotations).waiting_time == waiting


def test_a_job_is_preemptable_only_if_it_says_so() -> None:
    assert [job(preemptable=text).preemptable for text in ("true", "1", "no", "")] == [
        True,
        True,
        False,
        False,
    ]
    assert not job().preemptable


@pytest.mark.parametrize(
    ("annotations", "zone"),
    [
        ({"revocable_zone": "*"}, "*"),
        ({"revocable_zone": "rack"}, ""),
        ({"revocable_zone": "rack", "preemptable": "true"}, ""),
        ({"preemptable": "true"}, "*"),
        ({}, ""),
    ],
)
def test_where_a_job_may_be_revoked(annotations: dict[str, str], zone: str) -> None:
    assert job(**annotations).revocable_zone == zone


def test_a_budget_has_one_side() -> None:
    both = job(jdb_min_available="50%", jdb_max_unavailable="1")
    assert both.budget == DisruptionBudget(min_available="50%")
    assert job(jdb_max_unavailable="1").budget == DisruptionBudget(max_unavailable="1")


def test_a_task_moves_between_statuses_with_what_it_holds() -> None:
    made, one = job(), task()
    made.add_task(one)
    made.update_task_status(one, TaskStatus.BINDING)
    assert (made.allocated.cpu, list(made.index)) == (1000, [TaskStatus.BINDING])
    made.update_task_status(one, TaskStatus.RELEASING)
    assert (made.allocated.cpu, made.total_request.cpu) == (0, 1000)
    assert made.delete_task("uid-a")
    assert not made.delete_task("uid-a")
    assert (made.total_request.cpu, made.index) == (0, {})


def test_a_task_added_twice_counts_twice() -> None:
    made = job()
    made.add_task(task())
    made.add_task(task(status=TaskStatus.RUNNING))
    assert (made.total_request.cpu, list(made.tasks)) == (2000, ["uid-a"])
    assert list(made.index) == [TaskStatus.PENDING, TaskStatus.RUNNING]


def test_taking_away_more_than_there_is_is_a_crash() -> None:
    made = job()
    made.add_task(task())
    made.total_request.cpu = 0.0
    with pytest.raises(Panic) as caught:
        made.update_task_status(made.tasks["uid-a"], TaskStatus.BINDING)
    assert caught.value.place == (
        "api.(*Resource).Sub",
        "api.(*JobInfo).DeleteTaskInfo",
        "api.(*JobInfo).UpdateTaskStatus",
    )


def test_an_unset_podgroup_leaves_what_it_said() -> None:
    made = job()
    made.unset_pod_group()
    assert (made.name, made.uid, made.queue, made.pod_group) == ("g", "uid-g", "default", None)
    assert made.terminated


def test_a_view_keeps_what_the_podgroup_said_when_it_was_taken() -> None:
    made = job()
    made.add_task(task())
    view = made.view(7)
    made.set_pod_group(decode(PodGroup, group("g", 5, minTaskMember={"w": 5})), "default")
    assert (view.min_available, view.task_min_available, view.priority) == (1, {}, 7)
    assert (view.tasks, made.priority) == ({}, 0)

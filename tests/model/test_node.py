"""A node's account is what its tasks take, task by task."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.kubernetes.objects import Node, Pod, decode
from plinian.engine.model.node import NodeInfo
from plinian.engine.model.panic import Panic
from plinian.engine.model.task import TaskBuilder, TaskInfo
from plinian.engine.model.task_classes import TaskClasses
from plinian.engine.model.task_status import TaskStatus
from sessions import node, pod


def node_object(**rest: Any) -> Node:
    """Return a node ``n1`` of eight cores."""
    return decode(Node, node("n1", **rest))


def info(**rest: Any) -> NodeInfo:
    """Return the cache's node."""
    made = NodeInfo("n1")
    made.set_node(node_object(**rest))
    return made


def task(name: str, status: TaskStatus, cpu: float = 1) -> TaskInfo:
    """Return a task that belongs to no node yet."""
    made = TaskBuilder(TaskClasses()).task(decode(Pod, pod(name, "g", cpu=cpu)))
    made.status = status
    return made


@pytest.mark.parametrize(
    ("status", "idle", "used", "releasing", "pipelined"),
    [
        (TaskStatus.RUNNING, 7000, 1000, 0, 0),
        (TaskStatus.BOUND, 7000, 1000, 0, 0),
        (TaskStatus.BINDING, 7000, 1000, 0, 0),
        (TaskStatus.UNKNOWN, 7000, 1000, 0, 0),
        (TaskStatus.RELEASING, 7000, 1000, 1000, 0),
        (TaskStatus.PIPELINED, 8000, 0, 0, 1000),
    ],
)
def test_a_status_decides_what_is_charged_and_is_given_back(
    status: TaskStatus, idle: float, used: float, releasing: float, pipelined: float
) -> None:
    made, one = info(), task("a", status)
    assert made.add_task(one) is None
    accounts = (made.idle.cpu, made.used.cpu, made.releasing.cpu, made.pipelined.cpu)
    assert accounts == (idle, used, releasing, pipelined)
    one.status = TaskStatus.PENDING  # what the node noted counts
    assert made.remove_task("ns/a")
    accounts = (made.idle.cpu, made.used.cpu, made.releasing.cpu, made.pipelined.cpu)
    assert accounts == (8000, 0, 0, 0)


def test_idle_may_fall_below_nothing_unless_the_task_is_binding() -> None:
    made = info()
    assert made.add_task(task("a", TaskStatus.RUNNING, cpu=9)) is None
    assert made.idle.cpu == -1000
    assert made.out_of_sync() == ["cpu"]
    assert made.add_task(task("b", TaskStatus.BINDING)) is not None
    assert list(made.tasks) == ["ns/a"]


def test_a_name_is_taken_once_whatever_the_uid() -> None:
    made = info()
    assert made.add_task(task("a", TaskStatus.RUNNING)) is None
    assert made.add_task(task("a", TaskStatus.RUNNING)) == "task <ns/a> already on node <n1>"


def test_a_task_of_another_node_is_refused() -> None:
    one = task("a", TaskStatus.RUNNING)
    one.node_name = "n2"
    assert info().add_task(one) == "task <ns/a> already on different node <n2>"


def test_a_task_that_does_not_fit_back_ends_the_process() -> None:
    made, one = info(), task("a", TaskStatus.RUNNING)
    made.add_task(one)
    one.node_name = "n2"
    with pytest.raises(Panic, match="Failed to add Task <ns,a> to Node <n1>"):
        made.update_task(one)


def test_a_view_leaves_out_binding_tasks_that_no_longer_fit() -> None:
    made = info()
    made.add_task(task("a", TaskStatus.RUNNING))
    made.add_task(task("b", TaskStatus.BINDING, cpu=4))
    made.set_node(node_object(cpu=4))
    assert made.used.cpu == 5000  # setting a node asks nobody
    view = made.view()
    assert (list(view.tasks), view.used.cpu, view.idle.cpu) == (["ns/a"], 1000, 3000)


def test_a_view_is_not_reached_by_what_comes_after() -> None:
    made = info()
    view = made.view()
    made.add_task(task("a", TaskStatus.RUNNING))
    made.set_node(node_object(cpu=1, labels={"a": "b"}))
    assert (view.tasks, view.idle.cpu, view.labels) == ({}, 8000, {})


def test_what_an_annotation_granted_stays_with_the_cache_and_not_with_the_view() -> None:
    granted = {
        "volcano.sh/oversubscription-cpu": "500",
        "volcano.sh/oversubscription-memory": "bad",
    }
    made = info(annotations=granted)
    assert (made.allocatable.cpu, made.oversubscription.memory) == (8500, 0)
    made.set_node(node_object())
    assert (made.allocatable.cpu, made.view().allocatable.cpu) == (8500, 8000)


def test_marks_are_read_from_labels_and_annotations() -> None:
    made = info(
        labels={"volcano.sh/oversubscription": "true", "volcano.sh/revocable-zone": "z"},
        annotations={"volcano.sh/offline-job-evicting": "T"},
    )
    assert (made.oversubscription_node, made.offline_job_evicting) == (True, True)
    assert made.revocable_zone == "z"
    made.set_node(node_object())
    assert (made.oversubscription_node, made.offline_job_evicting) == (False, False)
    assert made.revocable_zone == ""


def test_a_node_without_scalars_does_not_notice_what_is_taken_of_them() -> None:
    bare = node("n1")
    bare["status"]["allocatable"] = {"cpu": "8"}
    made = NodeInfo("n1")
    made.set_node(decode(Node, bare))
    made.add_task(task("a", TaskStatus.RUNNING))
    assert (made.idle.scalars, made.used.scalars) == (None, {"pods": 1.0})

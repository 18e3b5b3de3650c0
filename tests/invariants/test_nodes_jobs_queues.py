"""Invariants of nodes, of jobs in the scheduler's cache, and of queues."""

from __future__ import annotations

from typing import Any

import pytest
from invariant_views import Story

from plinian.engine.invariants.invariant import Severity
from plinian.engine.model.task_status import TaskStatus
from plinian.replay.invariants.queue_tree_invariant import queue_tree
from plinian.replay.lint.findings import FindingSubject
from plinian.replay.lint.lint_inputs import Configuration
from sessions import group, node, pod, queue

BEGIN = (queue("default"), node("n1", cpu=4))


def test_a_node_whose_account_misses_a_pod() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g", on="n1"))
    assert story.violated("I-03") == []
    story.view.cache.nodes["n1"].remove_task("ns/a")
    assert {one.field for one in story.violations("I-03")} >= {"used.cpu", "pods[ns/a]"}


def test_a_node_whose_idle_is_not_what_is_left() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g", on="n1"))
    story.view.cache.nodes["n1"].idle.cpu += 500
    (found,) = story.violations("I-03")
    assert found.field == "idle.cpu"


def test_a_node_that_came_back_without_its_pods() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g", on="n1"))
    story.then("deleted", node("n1", cpu=4))
    story.then("created", node("n1", cpu=4))
    assert set(story.violated("I-03")) == {"n1"}
    assert story.violated("I-06") == ["ns/a"]


def test_tasks_on_a_node_that_does_not_exist_are_no_violation() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g", on="n1"))
    story.then("deleted", node("n1", cpu=4))
    assert story.violated("I-06") == []


def test_a_node_shrinks_below_what_its_pods_request() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g", cpu=3, on="n1"))
    assert story.violated("I-05c") == []
    story.then("updated", node("n1", cpu=2))
    (found,) = story.violations("I-05c")
    assert "request 3 of cpu, allocatable is 2" in found.message


def test_a_task_with_another_status_than_on_its_node() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g", on="n1"))
    story.view.cache.jobs["ns/g"].tasks["uid-a"].status = TaskStatus.BINDING
    (found,) = story.violations("I-06")
    assert "Binding, but counts as Running" in found.message


def test_a_job_whose_sum_is_not_that_of_its_tasks() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g", on="n1"))
    story.view.cache.jobs["ns/g"].allocated.cpu = 0
    (found,) = story.violations("I-06")
    assert found.field == "allocated.cpu"


def test_a_closed_queue_has_podgroups() -> None:
    story = Story(queue("old", state="Closed"), queue("going", state="Closing"))
    story.then("created", group("g", queue="going"))
    assert story.violated("I-15") == []
    story.then("created", group("h", queue="old"))
    assert story.violated("I-15") == ["old"]


def test_a_closing_queue_waits_for_its_podgroups_and_for_nothing_else() -> None:
    story = Story(queue("going", state="Closing"), queue("gone", state="Closed"))
    story.then("created", group("g", queue="going"))
    assert story.violated("I-15c") == []
    story.then("deleted", group("g", queue="going"))
    assert story.violated("I-15c") == ["going"]
    story.then("updated", queue("going", state="Closed"))
    assert story.violated("I-15c") == []


@pytest.mark.parametrize(("release", "fields"), [("v1.10.0", ["Inqueue"]), ("v1.11.0", [])])
def test_counts_are_checked_in_releases_that_write_them(release: str, fields: list[str]) -> None:
    story = Story(counted("default", inqueue=3), group("g"), release=release)
    assert [one.field for one in story.violations("I-15")] == fields
    story.then("updated", counted("default", inqueue=1))
    assert story.violated("I-15") == []


def test_counts_that_no_controller_writes_are_not_compared() -> None:
    assert Story(queue("default"), group("g"), release="v1.10.0").violated("I-15") == []


def counted(name: str, **counts: int) -> dict[str, Any]:
    """Return a queue whose status counts PodGroups."""
    made = queue(name)
    return {**made, "status": {**made["status"], **counts}}


def test_a_queue_above_its_parent_is_as_severe_as_its_effect_in_the_release() -> None:
    conf = 'actions: "enqueue"\ntiers:\n- plugins:\n  - name: capacity\n    enableHierarchy: true\n'
    given = Configuration(conf, FindingSubject("", "SchedulerConfiguration", "conf"))
    tree = queue_tree(lambda: given)
    for release, severity in (("v1.12.1", Severity.CRITICAL), ("v1.15.1", Severity.MEDIUM)):
        story = Story(node("n1"), queue("root"), release=release)
        story.then("created", queue("top", capability={"cpu": "4"}, parent="root"))
        story.then("created", queue("low", capability={"cpu": "3"}, parent="top"))
        assert list(tree.check(story.view, "")) == []
        story.then("updated", queue("low", capability={"cpu": "6"}, parent="top"))
        (found,) = tree.check(story.view, "")
        assert (found.name, found.severity) == ("low", severity)

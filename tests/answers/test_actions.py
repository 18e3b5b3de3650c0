"""The actions of a configuration and their order, where a job waits because of it."""

from __future__ import annotations

from typing import Any

import pytest

from sessions import document, group, node, pod, queue

CONF = """
actions: "{actions}"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
"""


def world(phase: str = "Inqueue", nodes: int = 1, least: int = 1) -> tuple[dict[str, Any], ...]:
    return (
        *(node(f"n{number}", 4) for number in range(1, nodes + 1)),
        queue("default"),
        document("PriorityClass", "high", value=100),
        document("PriorityClass", "low", value=1),
        group("hi", priorityClassName="high", phase=phase),
        group("lo", least, phase="Running", priorityClassName="low"),
        pod("h", "hi", 4, priority=100),
        pod("l", "lo", 4, on="n1", priority=1),
    )


def asked(ask: Any, actions: str, **more: Any) -> Any:
    return ask("pod/h", CONF.format(actions=actions), *world(**more))


@pytest.mark.parametrize("actions", ["enqueue, allocate", "enqueue, allocate, backfill"])
def test_preempt_that_does_not_run_is_named_where_it_could_evict(ask: Any, actions: str) -> None:
    found = asked(ask, actions)
    said = (
        "preempt, which evicts pods of lower priority in its queue, does not run "
        f"(actions: {actions})"
    )
    assert found.sentence.endswith(f"; {said}")
    assert said in [link.text for link in found.chain]


def test_preempt_that_runs_is_not_said_not_to_run(ask: Any) -> None:
    assert "does not run" not in asked(ask, "enqueue, allocate, preempt").sentence


def test_preempt_is_not_named_where_no_pod_of_lower_priority_runs(ask: Any) -> None:
    found = ask(
        "pod/h",
        CONF.format(actions="enqueue, allocate"),
        *(one for one in world() if one["metadata"]["name"] != "high"),
    )
    assert "preempt" not in found.sentence


def test_preempt_is_not_named_for_a_job_that_is_not_enqueued(ask: Any) -> None:
    conf = CONF.format(actions="enqueue, allocate") + "  - name: overcommit\n"
    objects = [one for one in world() if one["metadata"]["name"] != "hi"]
    wants = group("hi", priorityClassName="high", phase="Pending", minResources={"cpu": "4"})
    found = ask("podgroup/hi", conf, wants, *objects)
    assert found.cause.startswith("overcommitted")
    assert "preempt" not in found.sentence


def test_preempt_before_enqueue_comes_too_early(ask: Any) -> None:
    found = asked(ask, "preempt, enqueue, allocate", phase="Pending")
    assert found.sentence.endswith(
        "preempt makes no room for it: its PodGroup is Pending, and only enqueued jobs may evict "
        "others; preempt runs before enqueue (actions: preempt, enqueue, allocate)"
    )


def test_preempt_before_allocate_is_named_where_it_evicts(ask: Any) -> None:
    order = "preempt runs before allocate (actions: enqueue, preempt, allocate)"
    found = asked(ask, "enqueue, preempt, allocate", nodes=2, least=0)
    assert "evicts pod ns/l" in found.sentence
    assert found.sentence.endswith(f"; {order}")
    assert order in [link.text for link in found.chain]
    placed = asked(ask, "enqueue, allocate, preempt", nodes=2, least=0)
    assert placed.sentence == (
        "pod ns/h waits only for the next session, which binds it to node n2"
    )


def test_allocate_before_enqueue_comes_to_a_job_later(ask: Any) -> None:
    found = asked(ask, "allocate, enqueue", phase="Pending")
    assert found.sentence.endswith(
        "because allocate runs before enqueue (actions: allocate, enqueue), so it comes to a job "
        "only in the session after the job is enqueued"
    )


def test_without_allocate_only_pods_without_requests_are_placed(ask: Any) -> None:
    found = asked(ask, "enqueue, backfill")
    assert found.sentence.endswith(
        "because allocate does not run, and backfill places only pods without requests (actions: "
        "enqueue, backfill)"
    )


def test_reclaim_that_does_not_run_is_named_where_the_queue_is_owed_the_pod(ask: Any) -> None:
    objects = (
        node("n1", 4),
        *(queue(name) for name in ("default", "q", "r")),
        group("want", queue="q"),
        group("has", queue="r", phase="Running"),
        pod("w", "want", 2),
        *(pod(f"l{number}", "has", 1, on="n1") for number in range(4)),
    )
    found = ask("pod/w", CONF.format(actions="enqueue, allocate"), *objects)
    assert found.sentence.endswith(
        "; reclaim, which takes back what its queue deserves (r holds 4 cpu and deserves 2), does "
        "not run (actions: enqueue, allocate)"
    )
    runs = ask("pod/w", CONF.format(actions="enqueue, allocate, reclaim"), *objects)
    assert "does not run" not in runs.sentence


def test_reclaim_is_not_named_where_no_queue_holds_more_than_it_deserves(ask: Any) -> None:
    objects = (
        node("n1", 4),
        node("n2", 4),
        *(queue(name) for name in ("default", "q", "r")),
        group("want", queue="q"),
        group("has", queue="r", phase="Running"),
        pod("w", "want", 3),
        *(pod(f"l{number}", "has", 2, on=f"n{number}") for number in (1, 2)),
    )
    found = ask("pod/w", CONF.format(actions="enqueue, allocate"), *objects)
    assert "reclaim" not in found.sentence

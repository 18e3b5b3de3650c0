"""Words about what one session did for others before: on a node, and in a queue."""

from __future__ import annotations

from typing import Any

from answer_worlds import NODES, links

from plinian.replay.answers.records import EvictionTry
from sessions import group, node, pod, queue

AMOUNTS = """
actions: "enqueue, allocate, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: predicates
  - name: capacity
"""
GANG = (group("gang", 3), *(pod(f"gang-{number}", "gang", 3) for number in range(3)))


def test_a_node_that_lacks_only_what_the_session_planned_for_others_says_so(ask: Any) -> None:
    found = ask("node/n1", NODES, node("n1", 4), queue("default"), *GANG)
    after = "after what this session planned there for podgroup ns/gang"
    assert found.sentence == (
        "node n1 takes pods: 4 of 4 cpu and 16Gi of 16Gi memory are idle; it does not take pod "
        f"ns/gang-1, which waits: n1 lacks 2 cpu, {after}"
    )
    assert any(link.text.endswith(after) for link in found.chain)


def test_a_node_that_is_too_small_without_any_plan_does_not(ask: Any) -> None:
    world = (queue("default"), group("big"), pod("big-0", "big", 9), *GANG)
    found = ask("node/n1", NODES, node("n1", 4), *world)
    assert "it does not take pod ns/big-0: n1 lacks 5 cpu" in [one.text for one in found.chain]


def lent() -> list[Any]:
    """Return a queue that may not reclaim for the first of two jobs, and so comes to no other."""
    return [
        *(queue("qa", deserved={"cpu": "3"}), node("n1", 4)),
        queue("qb", deserved={"cpu": "1"}),
        *(group("old", 1, "Running", queue="qa"), pod("old-0", "old", 4, "n1")),
        *(group("first", 1, queue="qb"), pod("first-0", "first", 3)),
        *(group("second", 1, queue="qb"), pod("second-0", "second", 2)),
    ]


def test_a_job_that_reclaim_does_not_come_to_names_the_pod_of_the_other_job(ask: Any) -> None:
    found = ask("podgroup/second", AMOUNTS, *lent())
    (tried,) = links(found, EvictionTry)
    assert tried.text == (
        "reclaim: it does not come to this job, as it leaves queue qb at pod ns/first-0 of "
        "podgroup ns/first: its queue qb deserves 1 cpu and holds 0, and pod ns/first-0 requests "
        "3 (plugin capacity)"
    )
    own = ask("podgroup/first", AMOUNTS, *lent())
    assert "this job" not in links(own, EvictionTry)[0].text


def test_a_queue_says_what_reclaim_does_once_and_names_the_pod(ask: Any) -> None:
    texts = [one.text for one in links(ask("queue/qb", AMOUNTS, *lent()), EvictionTry)]
    assert len(texts) == len(set(texts)) == 1
    assert texts[0].startswith("reclaim for pod ns/")

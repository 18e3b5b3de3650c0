"""Pods that sessions evict or spare: why there is no victim, and what a victim is told."""

from __future__ import annotations

from typing import Any

import pytest
from answer_worlds import Document, links

from plinian.replay.answers.records import EvictionTry
from sessions import document, group, node, pod, queue

CONF = """
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: pdb
  - name: predicates
  - name: nodeorder
"""
NO_BUDGETS = CONF.replace("  - name: pdb\n", "")
TRIED_OUT = """
configurations:
- name: preempt
  arguments:
    enableTopologyAwarePreemption: true
"""
LOW, HIGH = 1, 10
CLASSES = tuple(document("PriorityClass", f"p{value}", value=value) for value in (LOW, HIGH))


def of(priority: int) -> dict[str, Any]:
    return {"priorityClassName": f"p{priority}"}


def world(new: int = HIGH, least: int = 1, **old: Any) -> tuple[Document, ...]:
    """Return a full node with two old pods of low priority, and pod ``a``, which waits."""
    olds = (
        pod(f"old-{number}", "old", 2, "n1", priority=LOW, **of(LOW), **old) for number in range(2)
    )
    return (
        node("n1", 4),
        queue("default"),
        *CLASSES,
        group("old", least, "Running", **of(LOW)),
        *olds,
        group("pg", 1, **of(new)),
        pod("a", "pg", 2, priority=new, **of(new)),
    )


def budget() -> Document:
    """Return a budget that allows no disruption of pods with the label ``app=x``."""
    spec = {"selector": {"matchLabels": {"app": "x"}}, "minAvailable": 2}
    made = document("PodDisruptionBudget", "b", "ns", spec=spec, status={"disruptionsAllowed": 0})
    return {"apiVersion": "policy/v1", **made}


@pytest.mark.parametrize("release", ["v1.12.1", "v1.15.1"])
@pytest.mark.parametrize(
    ("conf", "documents", "why"),
    [
        (
            NO_BUDGETS,
            world(new=LOW),
            "2 pods could be evicted, but none has a lower priority (plugin priority)",
        ),
        (
            NO_BUDGETS,
            world(least=2),
            (
                "2 pods could be evicted, but their gangs would have fewer pods than minMember "
                "(plugin gang)"
            ),
        ),
        (
            NO_BUDGETS,
            world(annotations={"volcano.sh/preemptable": "false"}),
            (
                "there is no pod that it may evict: 2 pods are not preemptable "
                "(volcano.sh/preemptable)"
            ),
        ),
        (
            CONF,
            (*world(labels={"app": "x"}), budget()),
            (
                "2 pods could be evicted, but their PodDisruptionBudgets allow no disruption, or "
                "they have no labels (plugin pdb)"
            ),
        ),
        (
            NO_BUDGETS + TRIED_OUT,
            world(new=LOW),
            "2 pods could be evicted, but none has a lower priority (plugin priority)",
        ),
    ],
)
def test_why_there_is_no_victim(
    ask: Any, release: str, conf: str, documents: tuple[Document, ...], why: str
) -> None:
    (tried,) = links(ask("pod/a", conf, *documents, release=release), EvictionTry)
    assert tried.text == f"preempt: {why}"
    assert tried.tried


@pytest.mark.parametrize("release", ["v1.12.1", "v1.15.1"])
@pytest.mark.parametrize(("ready", "needs"), [(0, "needs 3"), (1, "needs 4, and has 1")])
def test_room_for_a_part_of_a_gang_is_taken_back(
    ask: Any, release: str, ready: int, needs: str
) -> None:
    olds = (
        pod(f"old-{number}", "old", 2, f"n{number // 2}", priority=LOW, **of(LOW))
        for number in range(4)
    )
    runs = [pod("r", "pg", 1, "n2", priority=HIGH, **of(HIGH))] * ready
    documents = (
        *(node("n0", 4), node("n1", 4), node("n2", 1)),
        queue("default"),
        *CLASSES,
        group("old", 2, "Running", **of(LOW)),
        *olds,
        group("pg", 3 + ready, **of(HIGH)),
        *runs,
        *(pod(f"a-{number}", "pg", 2, priority=HIGH, **of(HIGH)) for number in range(3)),
    )
    found = ask("podgroup/pg", NO_BUDGETS, *documents, release=release)
    (tried,) = links(found, EvictionTry)
    assert tried.text == (
        f"preempt: evictions would make room for 2 pods, but its gang {needs}, so the session "
        "takes it back"
    )
    assert tried.room == 2


@pytest.mark.parametrize("name", ["old-0", "old-1"])
def test_a_running_pod_that_the_session_evicts_is_told_so(ask: Any, name: str) -> None:
    found = ask(f"pod/{name}", NO_BUDGETS, *world())
    if name == "old-0":
        assert found.sentence == (
            "pod ns/old-0 does not wait: it runs on node n1, but this session evicts it (preempt) "
            "for pod ns/a, which then gets its place"
        )
        assert (found.waits, found.cause) == (False, "to-be-evicted")
    else:
        assert found.sentence == "pod ns/old-1 does not wait: it runs on node n1"


def test_a_pod_that_the_scheduler_has_evicted_says_so(ask: Any) -> None:
    told = {
        "type": "Ready",
        "status": "False",
        "reason": "Evict",
        "message": "Pod is evicted, because of reclaim",
    }
    gone = pod("a", "pg", 1, "n1", status={"phase": "Running", "conditions": [told]})
    gone["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = ask("pod/a", NO_BUDGETS, node("n1"), queue("default"), group("pg"), gone)
    assert found.sentence == (
        "pod ns/a does not wait: it is being deleted on node n1, because the scheduler evicted "
        'it: "Pod is evicted, because of reclaim"'
    )

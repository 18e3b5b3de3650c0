"""Pods that sessions evict or spare: why there is no victim, and what a victim is told."""

from __future__ import annotations

import copy
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


def in_system(documents: tuple[Document, ...]) -> tuple[Document, ...]:
    """Return the same objects with the old ones in ``kube-system``."""
    moved = copy.deepcopy(documents)
    for one in moved:
        if one["metadata"]["name"].startswith("old"):
            one["metadata"]["namespace"] = "kube-system"
    return moved


def budget() -> Document:
    """Return a budget that allows no disruption of pods with the label ``app=x``."""
    spec = {"selector": {"matchLabels": {"app": "x"}}, "minAvailable": 2}
    made = document("PodDisruptionBudget", "b", "ns", spec=spec, status={"disruptionsAllowed": 0})
    return {"apiVersion": "policy/v1", **made}


BIG = pod("a", "pg", 4, priority=HIGH, **of(HIGH))


@pytest.mark.parametrize("release", ["v1.12.1", "v1.15.1"])
@pytest.mark.parametrize(
    ("conf", "documents", "why"),
    [
        (
            NO_BUDGETS,
            world(new=LOW),
            (
                "2 pods could be evicted, but they have no lower priority (plugin priority: "
                "podgroup ns/old has 1, and this one 1)"
            ),
        ),
        (
            NO_BUDGETS,
            world(least=2),
            (
                "2 pods could be evicted, but their gangs would have fewer pods than minMember "
                "(plugin gang: podgroup ns/old has 2 of minMember 2)"
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
                "2 pods could be evicted, but their PodDisruptionBudgets allow no more disruptions "
                "(plugin pdb: ns/b allows 0)"
            ),
        ),
        (
            CONF,
            world(),
            "2 pods could be evicted, but they have no labels (plugin pdb)",
        ),
        (
            NO_BUDGETS,
            in_system(world()),
            "2 pods could be evicted, but they are in kube-system (plugin conformance)",
        ),
        (
            NO_BUDGETS,
            (*world(requests={"memory": "1Gi"})[:-1], BIG),
            (
                "2 pods could be evicted, but also with 1 pod gone that may go, n1 would have 2 of "
                "4 cpu; with these gone, the others stay: their gangs would have fewer pods than "
                "minMember (plugin "
                "gang: podgroup ns/old has 1 of minMember 1)"
            ),
        ),
        (
            NO_BUDGETS + TRIED_OUT,
            world(new=LOW),
            (
                "2 pods could be evicted, but they have no lower priority (plugin priority: "
                "podgroup ns/old has 1, and this one 1)"
            ),
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


def conf_of(actions: str, *plugins: str) -> str:
    names = "".join(f"  - name: {name}\n" for name in plugins)
    return f'actions: "{actions}"\ntiers:\n- plugins:\n{names}'


RECLAIM = "enqueue, allocate, reclaim"
SHARES = conf_of(RECLAIM, "priority", "gang", "conformance", "predicates", "proportion")
AMOUNTS = conf_of(RECLAIM, "priority", "gang", "conformance", "predicates", "capacity")
QUEUES = (queue("qa"), queue("qb"))
CLOSED = (queue("qa", reclaimable=False), queue("qb"))


def deserving(qa: str, qb: str) -> tuple[Document, ...]:
    return queue("qa", deserved={"cpu": qa}), queue("qb", deserved={"cpu": qb})


def lent(
    queues: tuple[Document, ...], least: int = 1, cpu: int = 1, wants: Any = None, **old: Any
) -> tuple[Document, ...]:
    """Return a node full with four pods of queue ``qa``, and pod ``a`` of ``qb``, which waits."""
    return (
        node("n1", 4),
        *queues,
        *CLASSES,
        group("old", least, "Running", queue="qa"),
        *(pod(f"old-{number}", "old", 1, "n1", **old) for number in range(4)),
        group("pg", 1, queue="qb"),
        pod("a", "pg", cpu, **(wants or {})),
    )


NEVER = {"preemptionPolicy": "Never", **of(LOW)}


@pytest.mark.parametrize(
    ("release", "conf", "documents", "why"),
    [
        (
            "v1.8.0",
            SHARES,
            lent(QUEUES, least=4),
            (
                "4 pods could be evicted, but their gangs would have fewer pods than minMember "
                "(plugin gang: podgroup ns/old has 4 of minMember 4)"
            ),
        ),
        (
            "v1.12.1",
            SHARES,
            lent(CLOSED),
            "there is no pod that it may evict: 4 pods are in queues that are not reclaimable",
        ),
        (
            "v1.12.1",
            SHARES,
            lent(QUEUES, wants=NEVER),
            "the pod may not evict others: its preemptionPolicy is Never (PriorityClass p1)",
        ),
        (
            "v1.15.1",
            SHARES,
            lent(QUEUES, priorityClassName="system-node-critical"),
            (
                "4 pods could be evicted, but their PriorityClass is one of the critical ones "
                "(plugin conformance: system-node-critical)"
            ),
        ),
        (
            "v1.12.1",
            AMOUNTS,
            lent(deserving("4", "4"), cpu=2),
            (
                "4 pods could be evicted, but their queues hold no more than they deserve (plugin "
                "capacity: queue qa: 4 of 4 cpu)"
            ),
        ),
        (
            "v1.9.0",
            AMOUNTS,
            lent(deserving("2", "0"), cpu=2),
            "its queue qb deserves nothing (plugin capacity)",
        ),
        *(
            (
                release,
                AMOUNTS,
                lent(deserving("2", "1"), cpu=2),
                "its queue qb deserves 1 cpu and holds 0, and the pod requests 2 (plugin capacity)",
            )
            for release in ("v1.12.1", "v1.15.1")
        ),
        (
            "v1.12.1",
            AMOUNTS,
            lent(deserving("2", "1"), cpu=2, wants={"requests": {"memory": "1Gi"}}),
            (
                "its queue qb deserves 1 cpu and 0 memory, holds 0 cpu and 0 memory, and the pod "
                "requests 2 cpu and 1Gi memory (plugin capacity)"
            ),
        ),
    ],
)
def test_the_first_sentence_says_what_stops_reclaim(
    ask: Any, release: str, conf: str, documents: tuple[Document, ...], why: str
) -> None:
    found = ask("podgroup/pg", conf, *documents, release=release)
    assert found.sentence.endswith(f"; reclaim makes no room for it: {why}")
    (tried,) = links(found, EvictionTry)
    assert tried.text == f"reclaim: {why}"
    of_queue = ask("queue/qb", conf, *documents, release=release)
    assert of_queue.sentence.endswith(f"; reclaim makes no room for it: {why}")
    named = tried.text.replace("reclaim", f"reclaim for pod {tried.pod}", 1)
    assert [one.text for one in links(of_queue, EvictionTry)] == [named]


def test_what_a_plugin_compared_is_in_the_record(ask: Any) -> None:
    (tried,) = links(ask("podgroup/pg", AMOUNTS, *lent(deserving("4", "4"), cpu=2)), EvictionTry)
    (stay,) = (one for one in tried.stays if one.plugin == "capacity")
    assert (stay.plugin, stay.reason, stay.about, stay.pods) == (
        *("capacity", "within-deserved", "qa"),
        4,
    )
    assert (stay.has["cpu"], stay.limit["cpu"]) == ("4", "4")


def test_a_queue_above_its_share_that_keeps_its_pods_is_not_said_to_deserve_them(ask: Any) -> None:
    """The queue holds 4 and deserves 2: its gang keeps three of them."""
    found = ask("podgroup/pg", SHARES, *lent(QUEUES, least=3, cpu=2), release="v1.12.1")
    (tried,) = links(found, EvictionTry)
    assert "also with 1 pod gone that may go, n1 would have 1 of 2 cpu; with these" in tried.text
    assert "(plugin gang: podgroup ns/old has 3 of minMember 3)" in tried.text
    assert "plugin proportion: queue qa: 2 of 2 cpu" in tried.text


def test_pods_that_are_evicted_in_vain_are_not_said_to_stay(ask: Any) -> None:
    """In v1.8 idle resources do not count: the session evicts, and the pod waits on."""
    documents = (
        node("n1", 4),
        *QUEUES,
        group("old", 1, "Running", queue="qa"),
        *(pod(f"old-{number}", "old", 1, "n1") for number in range(3)),
        group("pg", 1, queue="qb"),
        pod("a", "pg", 3),
    )
    conf = conf_of(RECLAIM, "gang", "predicates")
    found = ask("podgroup/pg", conf, *documents, release="v1.8.0")
    assert found.sentence.endswith(
        "; reclaim makes no room for it: 3 pods could be evicted, but 2 pods, which it evicts on "
        "n1, hold only 2 of 3 cpu that the pod requests"
    )


@pytest.mark.parametrize("release", ["v1.8.0", "v1.12.1", "v1.15.1"])
def test_only_enqueued_jobs_reclaim(ask: Any, release: str) -> None:
    conf = conf_of(RECLAIM, "gang", "overcommit", "predicates", "proportion")
    gang = group("pg", 1, "Pending", queue="qb", minResources={"cpu": "2"})
    found = ask("podgroup/pg", conf, *lent(QUEUES)[:-2], gang, release=release)
    assert found.sentence.endswith(
        "; reclaim makes no room for it: its PodGroup is Pending, and only enqueued jobs may evict "
        "others"
    )


@pytest.mark.parametrize("release", ["v1.12.1", "v1.15.1"])
def test_a_gang_that_runs_does_not_preempt(ask: Any, release: str) -> None:
    documents = (*world(), pod("r", "pg", 1, "n1", priority=HIGH, **of(HIGH)))
    conf = conf_of("enqueue, allocate, preempt", "gang", "predicates")
    (tried,) = links(ask("pod/a", conf, *documents, release=release), EvictionTry)
    assert tried.text == (
        "preempt: its gang has 1 of minMember 1, so the job does not starve (plugin gang)"
    )
    assert (tried.gate, tried.by, tried.tried) == ("starves-not", "gang", False)
    assert tried.compared == {"held": 1, "minAvailable": 1, "pods": 2}


def test_pods_without_requests_are_no_victims(ask: Any) -> None:
    """In v1.8 a pod with requests replaces none without: nothing would be free."""
    idle = pod("idle", "old", 1, "n1", priority=LOW, **of(LOW))
    del idle["spec"]["containers"][0]["resources"]
    full = pod("r", "big", 4, "n1")
    wants = pod("a", "pg", 2, priority=HIGH, **of(HIGH))
    jobs = group("old", 1, "Running", **of(LOW)), group("pg", 1, **of(HIGH))
    big = queue("x"), group("big", 1, "Running", queue="x")
    documents = (node("n1", 4), queue("default"), *CLASSES, *big, *jobs, idle, full, wants)
    (tried,) = links(ask("pod/a", NO_BUDGETS, *documents, release="v1.8.0"), EvictionTry)
    assert tried.text == (
        "preempt: there is no pod that it may evict: 1 pod requests no resources, so nothing would "
        "be free"
    )


@pytest.mark.parametrize("release", ["v1.8.0", "v1.12.1", "v1.15.1"])
def test_victims_that_are_looked_for_another_pod_of_the_gang_count(ask: Any, release: str) -> None:
    """Volcano may pop one pod to look within its job, and look elsewhere for the next one only."""
    documents = (
        *(node("n1", 4), queue("a"), queue("b")),
        *(group("other", 2, "Running", queue="a"), group("old", 2, "Running", queue="b")),
        *(pod(f"other-{number}", "other", 1, "n1") for number in range(2)),
        *(pod(f"old-{number}", "old", 1, "n1") for number in range(2)),
        group("pg", 2, queue="b"),
        *(pod(f"a-{number}", "pg", 1) for number in range(2)),
    )
    found = ask("podgroup/pg", NO_BUDGETS, *documents, release=release)
    (tried,) = links(found, EvictionTry)
    assert "they have no lower priority (plugin priority: podgroup ns/old has 0" in tried.text


GANGS = """
actions: "enqueue, allocate, gangpreempt, gangreclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: capacity
  - name: predicates
  - name: network-topology-aware
"""


def gangs(new: int, waits_in: str = "default") -> tuple[Document, ...]:
    """Return a node that a gang of two fills, and a gang of two that waits."""
    may_go = {"volcano.sh/preemptable": "true"}
    return (
        node("n1", 2),
        queue("root"),
        *(queue(name, parent="root", deserved={"cpu": "1"}) for name in ("default", "other")),
        *CLASSES,
        group("old", 2, "Running", **of(LOW)),
        *(pod(f"old-{n}", "old", 1, "n1", priority=LOW, annotations=may_go) for n in range(2)),
        group("pg", 2, "Inqueue", queue=waits_in, **of(new)),
        *(pod(f"a-{n}", "pg", 1, priority=new) for n in range(2)),
    )


@pytest.mark.parametrize("named", ["podgroup/pg", "pod/a-1"])
def test_a_gang_that_others_make_room_for_waits_until_they_are_gone(ask: Any, named: str) -> None:
    found = ask(named, GANGS, *gangs(HIGH), release="v1.15.1")
    victims = "pods ns/old-0 and ns/old-1, which this session evicts, free resources"
    assert f"waits until {victims}" in found.sentence


@pytest.mark.parametrize("named", ["podgroup/pg", "pod/a-1", "queue/other"])
def test_what_keeps_a_gang_from_reclaiming_is_about_its_pods_together(ask: Any, named: str) -> None:
    found = ask(named, GANGS, *gangs(LOW, "other"), release="v1.15.1")
    assert found.sentence.endswith(
        "; gangreclaim makes no room for it: its queue other deserves 1 cpu and holds 0, and the "
        "2 pending pods of its gang together request 2 (plugin capacity)"
    )

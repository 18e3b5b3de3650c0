"""Two reasons at once: whoever mends the first one alone would wait again."""

from __future__ import annotations

from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES, PROPORTION, Document, owned

from plinian.replay.answers.records import Nodes, QueuePath
from sessions import document, group, node, pod, queue

CORDONED = {"unschedulable": True}
SMALL = (queue("root"), queue("default", parent="root", capability={"cpu": "2"}))
FULL = (*SMALL, group("old", 1, "Running"), pod("old-0", "old", 2, "n1"))
WORLD = (queue("default"), group("pg", 1))
QUEUE_FULL = "0 of 2 are left (podgroup ns/old holds 2)"


def taint(key: str, value: str = "") -> Document:
    """Return a taint that keeps pods away."""
    return {"key": key, "value": value, "effect": "NoSchedule"}


def gated(name: str) -> Document:
    """Return a pod with a scheduling gate."""
    return pod(name, "pg", 1, schedulingGates=[{"name": "quota"}])


class TestQueueAndMore:
    def test_a_queue_is_full_and_no_node_has_room(self, ask: Any) -> None:
        world = (node("n1", 3), *FULL, group("pg", 1), pod("a", "pg", 2))
        for named in ("pod/a", "podgroup/pg"):
            found = ask(named, CAPACITY, *world)
            assert found.sentence.endswith(
                f"is full (plugin capacity): it wants 2 cpu, {QUEUE_FULL}; also, the only node "
                "does not take it: n1 "
                "lacks 1 cpu"
            )
            assert found.cause == "queue-full default"
            blocking = [type(link) for link in found.chain if link.blocks]
            assert blocking == [QueuePath, Nodes]

    def test_a_queue_is_full_and_the_only_node_is_cordoned(self, ask: Any) -> None:
        world = (node("n1", 9, spec=CORDONED), *FULL, group("pg", 1), pod("a", "pg", 2))
        found = ask("pod/a", CAPACITY, *world)
        assert found.sentence.endswith(
            "; also, the only node does not take it: n1 is cordoned, with room for it"
        )

    def test_a_queue_is_full_and_the_gang_lacks_pods(self, ask: Any) -> None:
        gang = group("pg", 3, "Pending", minResources={"cpu": "2"})
        older = group("old", 1, "Running", minResources={"cpu": "2"})
        some = (older, pod("old-0", "old", 2, "n1"), gang, pod("a", "pg"), pod("b", "pg"))
        found = ask("podgroup/pg", CAPACITY, node("n1", 16), *SMALL, *some)
        assert found.sentence == (
            "podgroup ns/pg waits because its queue default is full (plugin capacity): it wants "
            f"2 cpu, {QUEUE_FULL}"
            "; also, its gang needs 3 pods at once, and has only 2 (2 Pending)"
        )

    def test_a_job_whose_pods_are_made_when_it_is_enqueued_lacks_none_before(
        self, ask: Any
    ) -> None:
        gang = owned(group("pg", 3, "Pending", minResources={"cpu": "2"}), "train")
        job = document("Job", "train", "ns", status={"state": {"phase": "Pending"}})
        older = group("old", 1, "Running", minResources={"cpu": "2"})
        some = (older, pod("old-0", "old", 2, "n1"), gang, pod("a", "pg"), job)
        assert "gang" not in ask("job/train", CAPACITY, node("n1", 16), *SMALL, *some).sentence

    def test_a_gang_lacks_pods_and_its_queue_is_full_and_no_node_has_room(self, ask: Any) -> None:
        some = (group("pg", 3), pod("a", "pg", 2), pod("b", "pg", 2))
        found = ask("podgroup/pg", CAPACITY, node("n1", 3), *FULL, *some)
        assert found.sentence == (
            "podgroup ns/pg waits because its gang needs 3 pods at once, and has only 2 (2 "
            "Pending); also, its queue default is full (plugin capacity): it wants 2 cpu, "
            f"{QUEUE_FULL}; also, the "
            "only node does not take it: n1 lacks 1 cpu"
        )
        assert found.cause == "gang-lacks-pods"

    def test_a_gang_lacks_pods_and_those_that_it_has_are_gated(self, ask: Any) -> None:
        some = (group("pg", 3), gated("a"), gated("b"))
        found = ask("podgroup/pg", NODES, node("n1"), queue("default"), *some)
        assert found.sentence.endswith(
            "has only 2 (2 Pending); also, the scheduling gate quota of its pods must be removed "
            "first"
        )

    def test_a_pod_of_a_gang_is_gated_and_the_others_have_a_place(self, ask: Any) -> None:
        some = (group("pg", 2), gated("a"), pod("b", "pg"))
        found = ask("podgroup/pg", NODES, node("n1"), queue("default"), *some)
        assert found.sentence == (
            "podgroup ns/pg waits because its gang needs 2 pods at once, and only 1 has a place: "
            "pod ns/a has none, because its scheduling gate quota must be removed first"
        )
        other = ask("pod/b", NODES, node("n1"), queue("default"), *some)
        assert "pod ns/a has none, because its scheduling gate quota" in other.sentence
        (blocks,) = (link.text for link in other.chain if link.blocks)
        assert blocks == "the scheduling gate quota of pod ns/a must be removed first"

    def test_a_session_decides_the_same_when_it_is_asked_for_more(self, ask: Any) -> None:
        """Looking further places nothing, and no step of it is one of the session."""
        world = (node("n1", 3), *FULL, group("pg", 1), pod("a", "pg", 2))
        found = ask("pod/a", CAPACITY, *world)
        assert {step.action for step in found.steps} <= {"open", "enqueue", "allocate", "backfill"}

    def test_more_is_reserved_than_there_is_and_the_queue_is_at_its_share(self, ask: Any) -> None:
        small = queue("default", capability={"cpu": "3"})
        old = (group("old", 1, "Running"), pod("old-0", "old", 3, "n1"))
        gang = group("pg", 1, "Pending", minResources={"cpu": "3"})
        found = ask("podgroup/pg", PROPORTION, node("n1", 4), small, *old, gang, pod("a", "pg", 1))
        first, second = found.sentence.split("; also, ")
        assert "enqueued jobs may reserve no more than" in first
        assert second.startswith(
            "its queue default may not exceed its share (plugin proportion): it deserves 3 cpu"
        )


class TestPodsOfOneJob:
    def test_pods_that_wait_for_different_reasons(self, ask: Any) -> None:
        picky = pod("b", "pg", 1)
        picky["spec"]["nodeSelector"] = {"zone": "east"}
        some = (group("pg", 3), pod("a", "pg", 9), picky, pod("c", "pg", 1))
        found = ask("podgroup/pg", NODES, node("n1", 4), queue("default"), *some)
        assert found.sentence == (
            "podgroup ns/pg waits because its gang needs 3 pods at once, and only 1 has a place: "
            "pod ns/a has none, because the only node does not take it: n1 lacks 5 cpu; no node "
            "has 9 cpu, even when it is empty; pod ns/b has none, because the only node does not "
            "take it: n1 does not match the pod's node selector zone=east"
        )

    def test_pods_that_wait_for_one_reason_are_not_named_twice(self, ask: Any) -> None:
        some = (group("pg", 2), pod("a", "pg", 9), pod("b", "pg", 8))
        found = ask("podgroup/pg", NODES, node("n1", 4), queue("default"), *some)
        assert found.sentence.count("n1 lacks") == 1


class TestNodes:
    def test_a_cordoned_node_that_also_has_a_taint_says_both(self, ask: Any) -> None:
        closed = node("n1", spec={**CORDONED, "taints": [taint("team", "gpu")]})
        found = ask("pod/a", NODES, closed, *WORLD, pod("a", "pg"))
        assert found.sentence.endswith(
            "n1 is cordoned and has a taint that the pod does not tolerate (team=gpu), with room "
            "for it"
        )

    def test_the_taint_of_a_cordon_is_not_named_beside_it(self, ask: Any) -> None:
        own = taint("node.kubernetes.io/unschedulable")
        closed = node("n1", spec={**CORDONED, "taints": [own]})
        found = ask("pod/a", NODES, closed, *WORLD, pod("a", "pg"))
        assert found.sentence.endswith("n1 is cordoned, with room for it")

    def test_all_taints_of_a_node_are_named(self, ask: Any) -> None:
        closed = node("n1", spec={"taints": [taint("team", "gpu"), taint("night")]})
        found = ask("pod/a", NODES, closed, *WORLD, pod("a", "pg"))
        assert found.sentence.endswith(
            "n1 has taints that the pod does not tolerate (team=gpu and night), with room for it"
        )

    @pytest.mark.parametrize(
        ("names", "says"), [(("n1",), "n1 has a taint"), (("n1", "n2"), "2 nodes have taints")]
    )
    def test_newer_releases_do_not_say_which_taint_but_the_answer_does(
        self, ask: Any, names: tuple[str, ...], says: str
    ) -> None:
        closed = (node(name, spec={"taints": [taint("night")]}) for name in names)
        found = ask("pod/a", NODES, *closed, *WORLD, pod("a", "pg"), release="v1.15.1")
        assert f"{says} that the pod does not tolerate (night)" in found.sentence
        assert "node(s)" not in found.sentence

    def test_nodes_without_room_of_which_the_nearest_is_closed(self, ask: Any) -> None:
        old = (group("old", 1, "Running"), pod("o", "old", 4, "n1"), pod("p", "old", 5, "n2"))
        nodes = (node("n1", 5, spec=CORDONED), node("n2", 5))
        found = ask("pod/a", NODES, *nodes, *WORLD, *old, pod("a", "pg", 3))
        assert found.sentence.endswith(
            "2 nodes lack cpu (the nearest, n1, lacks 2 cpu and is cordoned; n2 lacks 3 cpu and "
            "nothing else)"
        )

    def test_a_taint_without_a_value_is_written_as_kubectl_writes_it(self, ask: Any) -> None:
        night = {"key": "night", "effect": "NoSchedule"}
        found = ask("node/n1", NODES, node("n1", spec={"taints": [night]}), *WORLD)
        assert "only pods that tolerate night:NoSchedule may run there" in found.sentence

    def test_nodes_without_room_that_are_all_closed(self, ask: Any) -> None:
        nodes = (node("n1", 1, spec=CORDONED), node("n2", 1, spec={"taints": [taint("night")]}))
        found = ask("pod/a", NODES, *nodes, *WORLD, pod("a", "pg", 3))
        assert "all of them are closed to the pod" in found.sentence

    def test_closed_nodes_with_room_are_those_with_no_other_reason(self, ask: Any) -> None:
        both = node("n1", spec={**CORDONED, "taints": [taint("night")]})
        found = ask("pod/a", NODES, both, node("n2", spec=CORDONED), *WORLD, pod("a", "pg"))
        assert found.sentence.endswith("2 nodes are cordoned (with room for it: n2)")

    def test_without_the_plugin_that_filters_nothing_is_said_of_taints(self, ask: Any) -> None:
        conf = NODES.replace("  - name: predicates\n", "")
        closed = node("n1", 1, spec={"taints": [taint("night")]})
        found = ask("pod/a", conf, closed, *WORLD, pod("a", "pg", 3))
        assert "taint" not in found.sentence

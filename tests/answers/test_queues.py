"""Why jobs of a queue wait, why gangs wait, and what is said of queues and nodes themselves."""

from __future__ import annotations

from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES, OTHER, PROPORTION, links, owned, wants

from plinian.replay.answers.records import Gang, NodeState, QueuePath, QueueTree
from plinian.replay.render.why import link_tables
from sessions import document, group, node, pod, queue

ROOT = [queue("root"), queue("default", parent="root")]
TREE = [
    *ROOT,
    queue("test-root", parent="root", capability={"cpu": "2", "memory": "4Gi"}),
    queue("test-sub-0", parent="test-root", capability={"cpu": "2"}),
    queue("test-sub-1", parent="test-root", capability={"cpu": "2"}),
]


def above_root(own: str, *, nodes: int) -> tuple[Any, ...]:
    """Return a cluster with a queue of 200 cpu below a root; ``own`` is the root's capability."""
    return (
        node("n1", nodes, "24Gi"),
        queue("root", capability={"cpu": own}),
        queue("default", parent="root"),
        queue("big", parent="root", capability={"cpu": "200"}),
        wants("1"),
    )


def texts(found: Any) -> str:
    """Return the texts of a chain."""
    return "\n".join(link.text for link in found.chain)


class TestQueues:
    def test_a_job_waits_because_the_parent_of_its_queue_is_full(self, ask: Any) -> None:
        found = ask(
            "job/second",
            CAPACITY,
            node("n1", 16),
            *TREE,
            owned(
                group("first-1", 1, "Running", queue="test-sub-0", minResources={"cpu": "2"}),
                "first",
            ),
            pod("first-0", "first-1", 2, "n1"),
            owned(wants("2", "second-1", queue="test-sub-1"), "second"),
            document("Job", "second", "ns", status={"state": {"phase": "Pending"}}),
        )
        assert found.sentence == (
            "job ns/second waits because queue test-root, the parent of its queue test-sub-1, is "
            "full (plugin capacity): it wants 2 cpu, 0 of 2 are left (job ns/first holds 2)"
        )
        assert (found.waits, found.cause) == (True, "queue-full test-root")
        (path,) = links(found, QueuePath)
        assert [one.queue for one in path.accounts] == ["test-sub-1", "test-root", "root"]
        full = path.accounts[1]
        assert full.exceeded == ("cpu",)
        assert (full.limit["cpu"], full.allocated["cpu"], full.left["cpu"]) == ("2", "2", "0")
        assert [(one.job, one.allocated["cpu"]) for one in path.holders] == [("job ns/first", "2")]

    def test_the_same_pod_waits_if_an_older_release_has_enqueued_its_job(self, ask: Any) -> None:
        world = (
            node("n1", 16),
            *TREE,
            group("first", 1, "Running", queue="test-sub-0"),
            pod("first-0", "first", 2, "n1"),
            group("second", 1, "Inqueue", queue="test-sub-1", minResources={"cpu": "2"}),
            pod("second-0", "second", 2),
        )
        found = ask("pod/second-0", CAPACITY, *world)
        assert found.sentence == (
            "pod ns/second-0 waits because queue test-root, the parent of its queue test-sub-1, is "
            "full (plugin capacity): it wants 2 cpu, 0 of 2 are left (podgroup ns/first holds 2)"
        )
        (path,) = (one for one in links(found, QueuePath) if one.blocks)
        assert (path.action, path.point) == ("allocate", "Allocatable")

    def test_a_queue_deeper_in_the_tree_names_the_one_above(self, ask: Any) -> None:
        found = ask(
            "podgroup/pg",
            CAPACITY,
            node("n1", 4),
            *ROOT,
            queue("a", parent="root"),
            queue("b", parent="a"),
            wants("6", queue="b"),
        )
        assert found.sentence == (
            "podgroup ns/pg waits because its queue b is too small (plugin capacity): it wants 6 "
            "cpu, and all of the "
            "queue may use 4; all nodes together have 4"
        )

    def test_a_queue_without_weight_deserves_nothing(self, ask: Any) -> None:
        world = (
            queue("test", weight=0),
            group("one", 1, "Running", queue="test"),
            pod("one-0", "one", 2, "n1"),
            group("two", 1, queue="test"),
            pod("two-0", "two", 2),
        )
        found = ask("podgroup/two", PROPORTION, node("n1", 8), *world)
        assert found.sentence == (
            "podgroup ns/two waits because its queue test already has its share (plugin "
            "proportion): it deserves nothing, as its weight is 0; podgroup ns/one holds 2 cpu"
        )
        assert found.cause == "queue-overused test"
        votes = ask("queue/test", PROPORTION, node("n1", 8), *world).steps
        said = {(step.by, step.outcome) for step in votes if step.what == "Overused"}
        assert ("proportion", "overused: skipped") in said
        assert not {"permit", "reject"} & {outcome for _, outcome in said}

    def test_without_nodes_no_queue_is_said_to_deserve_nothing(self, ask: Any) -> None:
        unready = node("n1", 8)
        unready["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
        world = (queue("test"), group("two", 1, queue="test"), pod("two-0", "two", 2))
        found = ask("podgroup/two", PROPORTION, unready, *world, release="v1.9.0")
        assert "there is no node that the scheduler could use" in found.sentence

    def test_an_invalid_tree_stops_everything_and_says_which_amounts(self, ask: Any) -> None:
        found = ask(
            "podgroup/pg",
            CAPACITY,
            node("n1", 30, "24Gi"),
            *ROOT,
            queue("big", parent="root", capability={"cpu": "200", "memory": "200Gi"}),
            wants("1"),
        )
        assert found.sentence == (
            "podgroup ns/pg waits because the tree of queues is invalid, so the capacity plugin "
            "schedules nothing: queue root's capability (what all nodes have together) is less "
            "than that of its child big: 30 against 200 cpu and 24Gi against 200Gi memory"
        )
        (tree,) = links(found, QueueTree)
        assert (tree.own["cpu"], tree.theirs["cpu"]) == ("30", "200")

    def test_in_an_invalid_tree_no_limit_is_computed_and_none_is_exceeded(self, ask: Any) -> None:
        found = ask(
            "queue/big",
            CAPACITY,
            node("n1", 30, "24Gi"),
            *ROOT,
            queue("big", parent="root", capability={"cpu": "200", "memory": "200Gi"}),
            group("g", 1, "Running", queue="big"),
            pod("g-0", "g", 2, "n1"),
        )
        assert found.sentence == (
            "queue big lets no job wait: it has 1 job; it holds 2 cpu and 1 pods "
            "(no limit was computed)"
        )
        (account, _) = links(found, QueuePath)[0].accounts
        assert (account.limit, account.left, account.exceeded) == ({}, {}, ())
        table = link_tables(links(found, QueuePath)[0])[0]
        checks = {row[0]: row[-1] for row in table.rows}
        assert checks == {"big": "not computed", "root": "not checked"}

    def test_a_capability_has_only_the_resources_that_it_names(self, ask: Any) -> None:
        found = ask(
            "queue/q",
            CAPACITY,
            node("n1", 8, "16Gi"),
            *ROOT,
            queue("q", parent="root", capability={"cpu": "4"}),
            group("g", 1, "Running", queue="q"),
            pod("g-0", "g", 2, "n1"),
        )
        own, root = links(found, QueuePath)[0].accounts
        assert own.capability == {"cpu": "4"}
        assert own.limit["memory"] == "16Gi"
        assert root.capability == {}

    def test_a_capability_of_the_root_that_the_release_does_not_use_is_said(self, ask: Any) -> None:
        found = ask("podgroup/pg", CAPACITY, *above_root("10M", nodes=30))
        assert found.sentence.endswith(
            "queue root's capability (what all nodes have together; v1.12.1 does not use its own "
            "10000000 cpu) is less than that of its child big: 30 against 200 cpu"
        )

    def test_a_capability_of_the_root_that_the_release_uses_is_its_own(self, ask: Any) -> None:
        world = above_root("100", nodes=300)
        found = ask("podgroup/pg", CAPACITY, *world, release="v1.13.0")
        assert found.sentence.endswith(
            "queue root's capability is less than that of its child big: 100 against 200 cpu"
        )

    def test_a_closed_queue(self, ask: Any) -> None:
        world = (node("n1"), *ROOT, queue("shut", state="Closed", parent="root"))
        found = ask("podgroup/pg", CAPACITY, *world, wants("1", queue="shut"))
        text = "waits because its queue shut is Closed, not Open"
        assert found.sentence == f"podgroup ns/pg {text}"
        assert found.cause == "queue-closed shut"

    @pytest.mark.parametrize("phase", ["Pending", "Inqueue"])
    def test_what_a_queue_that_is_not_open_has_left_is_not_compared(
        self, ask: Any, phase: str
    ) -> None:
        small = queue("default", state="", capability={"cpu": "4"})
        old = (group("old", 1, "Running"), pod("old-0", "old", 3, "n1"))
        new = (group("pg", 1, phase, minResources={"cpu": "4"}), pod("new-0", "pg", 2))
        found = ask("podgroup/pg", PROPORTION, node("n1", 8), small, *old, *new)
        text = "waits because its queue default is not open yet, as its state is empty"
        assert found.sentence == f"podgroup ns/pg {text}"
        assert links(found, QueuePath) == []

    def test_a_queue_that_does_not_exist(self, ask: Any) -> None:
        found = ask("podgroup/pg", CAPACITY, node("n1"), *ROOT, wants("1", queue="gone"))
        assert found.sentence == "podgroup ns/pg waits because its queue gone does not exist"

    def test_a_queue_with_queues_below_it(self, ask: Any) -> None:
        found = ask("podgroup/pg", CAPACITY, node("n1"), *TREE, wants("1", queue="test-root"))
        assert found.sentence == (
            "podgroup ns/pg waits because the tree of queues is invalid, so the capacity plugin "
            "schedules nothing: queue test-root has queues below it, and only queues without any "
            "may have jobs, but podgroup ns/pg is in it"
        )

    def test_a_parent_that_does_not_exist(self, ask: Any) -> None:
        orphan = queue("a", parent="gone")
        found = ask("podgroup/pg", CAPACITY, node("n1"), *ROOT, orphan, wants("1", queue="a"))
        assert found.sentence.endswith("nothing: the parent gone of queue a does not exist")

    def test_a_queue_over_its_share(self, ask: Any) -> None:
        found = ask(
            "pod/poor-0",
            PROPORTION.replace("enqueue, allocate, preempt, reclaim", "allocate"),
            node("n1", 8),
            queue("rich"),
            queue("other"),
            group("rich", 1, "Running", queue="rich"),
            *(pod(f"rich-{number}", "rich", 2, "n1") for number in range(3)),
            group("late", 1, "Inqueue", queue="other"),
            *(pod(f"late-{number}", "late", 4) for number in range(2)),
            group("poor", 1, "Inqueue", queue="rich"),
            pod("poor-0", "poor", 2),
        )
        assert found.sentence == (
            "pod ns/poor-0 waits because its queue rich may not exceed its share (plugin "
            "proportion): it deserves "
            "4 cpu and holds 6, and needs 2 more (podgroup ns/rich holds 6)"
        )

    def test_enqueued_jobs_have_reserved_what_overcommit_allows(self, ask: Any) -> None:
        found = ask(
            "podgroup/pg",
            PROPORTION,
            node("n1", 10),
            queue("default"),
            group("early", 1, "Inqueue", minResources={"cpu": "8"}),
            wants("6"),
        )
        assert found.sentence == (
            "podgroup ns/pg waits because enqueued jobs may reserve no more than 1.2 times what "
            "all nodes have, less what is used (plugin overcommit, overcommit-factor 1.2, the "
            "default): it wants 6 cpu, 4 of 12 are left "
            "(podgroup ns/early has reserved 8 cpu)"
        )

    def test_a_resource_quota_names_itself(self, ask: Any) -> None:
        quota = document(
            "ResourceQuota",
            "small",
            "ns",
            spec={"hard": {"cpu": "4"}},
            status={"hard": {"cpu": "4"}, "used": {"cpu": "3"}},
        )
        conf = PROPORTION.replace("- name: overcommit", "- name: resourcequota")
        world = (node("n1", 10), queue("default"), quota)
        found = ask("podgroup/pg", conf, *world, wants("2"))
        assert found.sentence == (
            "podgroup ns/pg waits because ResourceQuota small of its namespace has too little "
            "left (plugin resourcequota): it wants 2 cpu, and 3 of 4 are used"
        )

    def test_what_a_session_gives_to_others_counts_in_a_quota(self, ask: Any) -> None:
        quota = document(
            "ResourceQuota",
            "small",
            "ns",
            spec={"hard": {"cpu": "4"}},
            status={"hard": {"cpu": "4"}, "used": {"cpu": "1"}},
        )
        conf = PROPORTION.replace("- name: overcommit", "- name: resourcequota")
        first = group("early", 1, "Pending", minResources={"cpu": "2"})
        world = (node("n1", 10), queue("default"), quota, first)
        found = ask("podgroup/pg", conf, *world, wants("2"))
        assert found.sentence.endswith(
            "it wants 2 cpu, and 1 of 4 are used and 2 go to other jobs in this session"
        )


class TestGangs:
    def test_a_gang_of_which_a_pod_does_not_exist(self, ask: Any) -> None:
        found = ask(
            "podgroup/pg",
            PROPORTION,
            node("n1"),
            queue("default"),
            group("pg", 3),
            pod("a", "pg"),
            pod("b", "pg"),
        )
        assert found.sentence == (
            "podgroup ns/pg waits because its gang needs 3 pods at once, and has only 2 (2 Pending)"
        )
        (gang,) = links(found, Gang)
        assert (gang.least, gang.valid, gang.statuses) == (3, 2, {"Pending": 2})

    def test_a_gang_one_pod_short_of_a_place(self, ask: Any) -> None:
        found = ask(
            "podgroup/pg",
            NODES,
            node("n1", 4),
            queue("default"),
            group("pg", 3),
            *(pod(name, "pg", 2) for name in "abc"),
        )
        assert found.sentence == (
            "podgroup ns/pg waits because its gang needs 3 pods at once, and only 2 have a place: "
            "pod ns/c has none, because the only node does not take it: n1 lacks 2 cpu"
        )
        (gang,) = links(found, Gang)
        assert gang.planned == {"ns/a": "n1", "ns/b": "n1"}

    def test_places_of_a_gang_that_were_taken_back_in_between_do_not_count_together(
        self, ask: Any
    ) -> None:
        world = (node("n1", 3), queue("default"), group("pg", 3))
        pods = tuple(pod(name, "pg", 2) for name in "abc")
        found = ask("podgroup/pg", NODES, *world, *pods)
        assert found.sentence == (
            "podgroup ns/pg waits because its gang needs 3 pods at once, and only 1 has a place: "
            "pod ns/b has none, because the only node does not take it: n1 lacks 1 cpu"
        )

    def test_a_pod_that_has_a_place_waits_for_the_rest_of_its_gang(self, ask: Any) -> None:
        world = (node("n1", 4), queue("default"), group("pg", 3))
        found = ask("pod/a", NODES, *world, *(pod(name, "pg", 2) for name in "abc"))
        assert found.sentence == (
            "pod ns/a waits because its gang needs 3 pods at once, and only 2 have a place: pod "
            "ns/c has none, because the only node does not take it: n1 lacks 2 cpu (this pod could "
            "go to node n1)"
        )

    def test_an_enqueued_job_without_pods_waits_for_its_controller(self, ask: Any) -> None:
        world = (node("n1"), queue("default"), owned(group("pg", 2), "job"), OTHER)
        found = ask("podgroup/pg", PROPORTION, *world)
        assert found.sentence == (
            "job ns/job waits because none of its pods exists: it is enqueued, and the "
            "controller of its Job has to make them"
        )

    @pytest.mark.parametrize(("seen", "least"), [((), 1), (("b",), 2)])
    def test_pods_that_name_another_scheduler_are_no_missing_pods(
        self, ask: Any, seen: tuple[str, ...], least: int
    ) -> None:
        other = pod("a", "pg", 1)
        other["spec"]["schedulerName"] = "default-scheduler"
        own = [pod(name, "pg", 1) for name in seen]
        world = (node("n1"), queue("default"), group("pg", least), other, *own, OTHER)
        found = ask("podgroup/pg", PROPORTION, *world)
        assert "pod ns/a has the schedulerName default-scheduler, not volcano" in found.sentence
        assert "of its pods exists" not in found.sentence
        assert ("sessions see none of its pods" in found.sentence) is (not seen)

    def test_jobs_with_the_same_cause_and_other_numbers_are_not_counted_together(
        self, ask: Any
    ) -> None:
        found = ask(
            "queue/default",
            PROPORTION,
            node("n1", 1),
            queue("default"),
            *(group(name, 1) for name in "abc"),
            *(pod(f"{name}-0", name, cpu) for name, cpu in (("a", 2), ("b", 3), ("c", 3))),
        )
        assert "podgroup ns/b and 1 more wait because" in found.sentence
        assert "needs 3 more" in found.sentence
        assert "podgroup ns/a waits because" in found.sentence
        assert "needs 2 more" in found.sentence


class TestQueuesAndNodesThemselves:
    def test_a_queue_counts_its_waiting_jobs_by_reason(self, ask: Any) -> None:
        found = ask(
            "queue/default",
            PROPORTION,
            node("n1", 1),
            queue("default"),
            *(group(name, 1) for name in "ab"),
            *(pod(f"{name}-0", name, 2) for name in "ab"),
        )
        assert found.sentence == (
            "2 jobs of queue default wait: podgroup ns/a and 1 more wait because its queue default "
            "may not exceed its share (plugin proportion): it deserves 1 cpu and holds 0, and "
            "needs 2 more; all "
            "nodes together have 1"
        )

    @pytest.mark.parametrize("target", ["queue/top", "podgroup/gang"])
    def test_a_gang_of_a_queue_is_told_of_the_full_queue_above(self, ask: Any, target: str) -> None:
        """The last pod is the one that is refused, and few pods of each job are followed."""
        found = ask(
            target,
            CAPACITY,
            node("n1", 16),
            queue("root"),
            queue("top", parent="root", capability={"cpu": "4"}),
            queue("leaf", parent="top"),
            group("gang", 5, "Inqueue", queue="leaf"),
            *(pod(f"gang-{number}", "gang", 1) for number in range(5)),
        )
        assert found.sentence.endswith(
            "leaf is full (plugin capacity): it wants 1 cpu, 0 of 4 are left "
            "(podgroup ns/gang holds 4, as planned in this session)"
        )
        assert "ns/gang-4 has none, because its queue" in found.sentence

    def test_a_gang_of_a_queue_is_told_of_the_share_of_its_queue(self, ask: Any) -> None:
        found = ask(
            "queue/default",
            PROPORTION,
            node("n1", 4),
            queue("default"),
            group("gang", 5, "Inqueue"),
            *(pod(f"gang-{number}", "gang", 1) for number in range(5)),
        )
        assert "may not exceed its share" in found.sentence
        assert "plugin proportion refuses" not in found.sentence

    def test_a_queue_without_waiting_jobs(self, ask: Any) -> None:
        world = (node("n1", 4), queue("default"), group("a", 1, "Running"), pod("a", "a", 1, "n1"))
        found = ask("queue/default", PROPORTION, *world)
        assert found.waits is False
        assert found.sentence.startswith("queue default lets no job wait: it has 1 job; it holds 1")

    def test_a_cordoned_node(self, ask: Any) -> None:
        found = ask(
            "node/n1",
            PROPORTION,
            node("n1", 4, spec={"unschedulable": True}),
            queue("default"),
            group("a", 1),
            pod("a", "a", 1),
        )
        assert found.sentence == (
            "node n1 takes no pods: it is cordoned (spec.unschedulable); it does not take pod "
            "ns/a, which waits: n1 is cordoned, with room for it"
        )

    def test_a_node_that_is_not_ready(self, ask: Any) -> None:
        condition = {"type": "Ready", "status": "False"}
        dead = node("n1", 4)
        dead["status"]["conditions"] = [condition]
        oldest = ask("node/n1", PROPORTION, dead, queue("default"), release="v1.10.0")
        assert oldest.sentence == "node n1 takes no pods: sessions do not see it: NotReady"
        newer = ask("node/n1", PROPORTION, dead, queue("default"), OTHER)
        assert newer.sentence.startswith(
            "node n1 takes pods, though its condition Ready is False: 4 of 4 cpu"
        )
        assert links(newer, NodeState)[0].state == "NotReady"
        assert "node n1, though its condition Ready is False: it has 0 pods; 4 of" in texts(newer)

    @pytest.mark.parametrize("release", ["v1.10.0", "v1.15.1"])
    def test_a_node_without_a_condition_is_not_called_ready(self, ask: Any, release: str) -> None:
        found = ask("node/n1", PROPORTION, node("n1", 4), queue("default"), OTHER, release=release)
        assert links(found, NodeState)[0].state == "Unknown"
        said = "sessions use node n1, though it has no condition Ready: it has 0 pods; 4 of 4 cpu"
        assert said in texts(found)

    def test_a_node_whose_condition_is_true_is_called_ready(self, ask: Any) -> None:
        sound = node("n1", 4)
        sound["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
        found = ask("node/n1", PROPORTION, sound, queue("default"), OTHER)
        assert "node n1 is Ready with 0 pods: 4 of 4 cpu" in texts(found)

    def test_a_node_with_room(self, ask: Any) -> None:
        found = ask("node/n1", PROPORTION, node("n1", 4, "8Gi"), queue("default"), OTHER)
        assert found.waits is False
        assert found.sentence == "node n1 takes pods: 4 of 4 cpu and 8Gi of 8Gi memory are idle"

    def test_a_node_that_refuses_pods_for_many_reasons_says_how_many_it_does_not_name(
        self, ask: Any
    ) -> None:
        rare = [{"memory": "90Gi"}, {"nvidia.com/gpu": "1"}, {"a.io/b": "1"}, {"a.io/c": "1"}]
        pods = [pod(f"p-{at}", "pg", 1, requests=more) for at, more in enumerate(rare)]
        found = ask("node/n1", NODES, node("n1", 2), queue("default"), group("pg"), *pods)
        assert found.sentence.endswith(
            "it does not take 4 pods that wait: it lacks memory (1 pod), it lacks nvidia.com/gpu "
            "(1 pod), it lacks a.io/b (1 pod) and it refuses 1 more for other reasons"
        )


@pytest.mark.parametrize("release", ["v1.11.0", "v1.12.1", "v1.13.0", "v1.14.4", "v1.15.1"])
@pytest.mark.parametrize("parents", [("a", "root"), ("b", "a")])
def test_queues_above_themselves_have_an_answer(
    ask: Any, release: str, parents: tuple[str, str]
) -> None:
    """Below a queue that is its own parent, or its child's child, no search goes on for ever."""
    documents = (
        node("n1", 8),
        *ROOT,
        *(queue(name, parent=parent) for name, parent in zip("ab", parents, strict=True)),
        group("old", 1, "Running", queue="a", minResources={"cpu": "8"}),
        pod("old-0", "old", 8, "n1"),
        group("pg", 1, "Inqueue", queue="a", minResources={"cpu": "4"}),
        pod("pg-0", "pg", 4),
    )
    for named in ("podgroup/pg", "pod/pg-0", "queue/a", "queue/root"):
        assert "wait" in ask(named, CAPACITY, *documents, release=release).sentence

"""The first sentence of ``why``, for each kind of reason that a pod, a job or a queue can have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES, PROPORTION, log_of, owned, watched_log

from plinian.engine.errors import ObjectNotFound, UsageError
from plinian.engine.volcano.session.history import resolve
from plinian.replay.answers.pods import pod_finding
from plinian.replay.answers.records import (
    Drifted,
    EvictionTry,
    Gang,
    Link,
    Nodes,
    PodGroupState,
    QueuePath,
    QueueTree,
    Recorded,
    Why,
)
from plinian.replay.answers.run import run_of
from plinian.replay.answers.why import why_at, why_document
from plinian.replay.moments.belief import belief_at
from plinian.replay.sessions.session import scene_at
from sessions import CREATED, document, group, node, pod, queue

Document = dict[str, Any]
RELEASE = "v1.12.1"
ROOT = [queue("root"), queue("default", parent="root")]
OTHER = pod("elsewhere", "none", 1, "gone")
"""A pod that matters to no other: with it, the log holds pods."""
TREE = [
    *ROOT,
    queue("test-root", parent="root", capability={"cpu": "2", "memory": "4Gi"}),
    queue("test-sub-0", parent="test-root", capability={"cpu": "2"}),
    queue("test-sub-1", parent="test-root", capability={"cpu": "2"}),
]


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    def asked(named: str, conf: str, *documents: Document, release: str = RELEASE) -> Why:
        with log_of(tmp_path, conf, *documents) as log:
            return why_at(log, log.object(named), namespace="ns", release=release)

    return asked


def links(found: Why, sort: type) -> list[Any]:
    """Return the links of one sort."""
    return links_of(found.chain, sort)


def links_of(chain: Sequence[Link], sort: type) -> list[Any]:
    """Return the links of one sort in a chain."""
    return [link for link in chain if isinstance(link, sort)]


def wants(cpu: str, name: str = "pg", **more: Any) -> Document:
    """Return a Pending PodGroup with minResources."""
    return group(name, 1, "Pending", minResources={"cpu": cpu}, **more)


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
            "full: it wants 2 cpu, 0 of 2 are left (job ns/first holds 2)"
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
            "full: it wants 2 cpu, 0 of 2 are left (podgroup ns/first holds 2)"
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
            "podgroup ns/pg waits because its queue b is full: it wants 6 cpu, 4 of 4 are left"
        )

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

    def test_a_closed_queue(self, ask: Any) -> None:
        world = (node("n1"), *ROOT, queue("shut", state="Closed", parent="root"))
        found = ask("podgroup/pg", CAPACITY, *world, wants("1", queue="shut"))
        text = "waits because its queue shut is Closed, not Open"
        assert found.sentence == f"podgroup ns/pg {text}"
        assert found.cause == "queue-closed shut"

    def test_a_queue_that_does_not_exist(self, ask: Any) -> None:
        found = ask("podgroup/pg", CAPACITY, node("n1"), *ROOT, wants("1", queue="gone"))
        assert found.sentence == "podgroup ns/pg waits because its queue gone does not exist"

    def test_a_queue_with_queues_below_it(self, ask: Any) -> None:
        found = ask("podgroup/pg", CAPACITY, node("n1"), *TREE, wants("1", queue="test-root"))
        assert "test-root" in found.sentence
        assert "not leaf queue" in found.sentence

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
            "pod ns/poor-0 waits because its queue rich may not exceed its share: it deserves 4 cpu "
            "and holds 6, and 2 more are wanted (podgroup ns/rich holds 6)"
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
            "all nodes have, less what is used: it wants 6 cpu, 4 of 12 are left "
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
            "podgroup ns/pg waits because ResourceQuota small of its namespace has no room: "
            "requested: map[cpu:2], used: map[cpu:3], limited: map[cpu:4]"
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
            "podgroup ns/pg waits because its gang needs 3 pods at once, and only 2 can count "
            "(of its pods 2 Pending)"
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
            "job ns/job waits because none of its pods exists yet: it is enqueued, and the "
            "controller of its Job has to make them"
        )


class TestPods:
    WORLD = (queue("default"), group("pg", 1))

    def test_nodes_are_grouped_by_what_they_lack(self, ask: Any) -> None:
        gpus = {"more": {"nvidia.com/gpu": "1"}}
        found = ask(
            "pod/a",
            PROPORTION,
            *(node(f"n{number}", number, **gpus) for number in (1, 2)),
            node("big", 16),
            *self.WORLD,
            pod("a", "pg", 3, requests={"nvidia.com/gpu": "1"}),
        )
        assert found.sentence == (
            "pod ns/a waits because none of 3 nodes takes it: 2 nodes lack cpu (the nearest, n2, "
            "lacks 1 cpu); big lacks 1 nvidia.com/gpu"
        )
        (nodes,) = links(found, Nodes)
        assert [one.nodes for one in nodes.groups] == [("n1", "n2"), ("big",)]
        assert [one.missing for one in nodes.groups[0].nearest] == [{"cpu": "1"}, {"cpu": "2"}]

    def test_the_only_fitting_node_is_cordoned(self, ask: Any) -> None:
        found = ask(
            "pod/a",
            PROPORTION,
            node("big", 16, spec={"unschedulable": True}),
            node("small", 1),
            *self.WORLD,
            pod("a", "pg", 4),
        )
        assert found.sentence == (
            "pod ns/a waits because none of 2 nodes takes it: big is cordoned, with room for it; "
            "small lacks 3 cpu"
        )

    def test_a_cordoned_node_that_also_lacks_something_says_both(self, ask: Any) -> None:
        found = ask(
            "pod/a",
            NODES,
            node("small", 1, spec={"unschedulable": True}),
            *self.WORLD,
            pod("a", "pg", 4),
        )
        assert found.sentence == (
            "pod ns/a waits because the only node does not take it: small lacks 3 cpu and is "
            "cordoned"
        )

    def test_a_missing_podgroup(self, ask: Any) -> None:
        found = ask("pod/a", PROPORTION, node("n1"), *self.WORLD, pod("a", "gone"))
        assert found.sentence == (
            "pod ns/a waits because its PodGroup ns/gone does not exist, and without it the "
            "scheduler ignores the pods"
        )
        (state,) = links(found, PodGroupState)
        assert (state.exists, state.blocks) == (False, True)

    def test_a_pod_of_another_scheduler(self, ask: Any) -> None:
        other = pod("a", "pg")
        other["spec"]["schedulerName"] = "default-scheduler"
        found = ask("pod/a", PROPORTION, node("n1"), *self.WORLD, other)
        assert found.sentence == (
            "pod ns/a waits for another scheduler: its schedulerName is default-scheduler, not "
            "volcano"
        )

    def test_a_bound_pod_a_running_one_and_an_ended_one_do_not_wait(self, ask: Any) -> None:
        bound = pod("bound", "pg", 1, "n1", status={"phase": "Pending"})
        done = pod("done", "pg", 1, "n1", status={"phase": "Succeeded"})
        world = (node("n1"), *self.WORLD, bound, done, pod("runs", "pg", 1, "n1"))
        told = [ask(f"pod/{name}", PROPORTION, *world) for name in ("bound", "runs", "done")]
        assert [one.sentence.partition("does not wait")[2] for one in told] == [
            " for the scheduler: it is bound to node n1, where its containers have to start",
            ": it runs on node n1",
            ": it has ended (Succeeded) on node n1",
        ]
        assert [one.waits for one in told] == [False, False, False]

    def test_scheduling_gates(self, ask: Any) -> None:
        gated = pod("a", "pg", schedulingGates=[{"name": "quota.example.com"}])
        found = ask("pod/a", PROPORTION, node("n1"), *self.WORLD, gated)
        assert found.sentence == (
            "pod ns/a waits because its scheduling gate quota.example.com must be removed first"
        )

    def test_a_volume_claim_that_does_not_exist(self, ask: Any) -> None:
        claiming = pod("a", "pg")
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
        claiming["spec"]["volumes"] = [volume]
        found = ask("pod/a", PROPORTION, node("n1"), *self.WORLD, claiming)
        assert found.sentence == (
            "pod ns/a waits because filter VolumeBinding fails for all nodes: "
            'persistentvolumeclaim "data" not found'
        )

    def test_a_volume_claim_that_is_not_bound_yet(self, ask: Any) -> None:
        claiming = pod("a", "pg")
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
        claiming["spec"]["volumes"] = [volume]
        storage = document("StorageClass", "fast", volumeBindingMode="Immediate")
        claim = document("PersistentVolumeClaim", "data", "ns", spec={"storageClassName": "fast"})
        found = ask("pod/a", PROPORTION, node("n1"), *self.WORLD, storage, claim, claiming)
        assert "unbound immediate PersistentVolumeClaims" in found.sentence

    def test_the_next_session_places_it(self, ask: Any) -> None:
        found = ask("pod/a", PROPORTION, node("n1"), *self.WORLD, pod("a", "pg"))
        assert found.sentence == (
            "pod ns/a waits only for the next session, which binds it to node n1"
        )
        assert found.cause == "next-session"

    def test_a_pod_waits_for_one_that_is_being_deleted(self, ask: Any) -> None:
        leaving = pod("leaving", "old", 8, "n1")
        leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        world = (node("n1"), *self.WORLD, group("old", 1, "Running"), leaving)
        found = ask("pod/a", PROPORTION, *world, pod("a", "pg", 8))
        assert found.sentence == (
            "pod ns/a waits until pods that are going free resources on node n1"
        )

    def test_evictions_were_tried_and_why_there_is_no_victim(self, ask: Any) -> None:
        found = ask(
            "pod/a",
            PROPORTION,
            node("n1", 4),
            queue("default"),
            group("old", 2, "Running"),
            *(pod(f"old-{number}", "old", 2, "n1", priority=1) for number in range(2)),
            group("pg", 1),
            pod("a", "pg", 2, priority=1),
        )
        tried = links(found, EvictionTry)
        assert [one.action for one in tried] == ["preempt", "reclaim"]
        assert tried[0].text.startswith("preempt: ")
        assert "2 pods could be evicted" in tried[0].text

    def test_what_the_clusters_scheduler_wrote_is_kept_apart(self, ask: Any) -> None:
        message = "0/1 nodes are unavailable"
        condition = {"type": "PodScheduled", "status": "False", "message": message}
        told = pod("a", "pg", 99, status={"conditions": [condition]})
        found = ask("pod/a", PROPORTION, node("n1"), *self.WORLD, told)
        (recorded,) = links(found, Recorded)
        assert (recorded.about, recorded.message) == ("pod ns/a", message)

    def test_a_pod_that_never_existed(self, ask: Any) -> None:
        with pytest.raises(ObjectNotFound, match='pods "none" not found in namespace ns'):
            ask("pod/none", PROPORTION, node("n1"), *self.WORLD)

    def test_a_kind_that_has_no_reasons(self, ask: Any) -> None:
        with pytest.raises(UsageError, match="does not answer about a ConfigMap"):
            ask("configmap/a", PROPORTION, node("n1"), *self.WORLD)


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
            "may not exceed its share: it deserves 1 cpu and holds 0, and 2 more are wanted"
        )

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
            "node n1 takes no pods: it is cordoned (spec.unschedulable); it does not take 1 pod "
            "that waits (1 pod: node(s) were unschedulable)"
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

    def test_a_node_with_room(self, ask: Any) -> None:
        found = ask("node/n1", PROPORTION, node("n1", 4, "8Gi"), queue("default"), OTHER)
        assert found.waits is False
        assert found.sentence == "node n1 takes pods: 4 of 4 cpu and 8Gi of 8Gi memory are idle"


class TestWhatIsNotKnown:
    """Only some kinds are in the input; no answer may rest on those that are not."""

    def test_without_nodes_nothing_is_said_of_resources(self, ask: Any) -> None:
        condition = {"type": "PodScheduled", "status": "False", "message": "0/9 nodes"}
        told = pod("a", "pg", status={"conditions": [condition]})
        found = ask("pod/a", PROPORTION, queue("default"), group("pg", 1), told)
        assert found.sentence == (
            "it is not known why pod ns/a waits: the log holds no nodes; the cluster's scheduler "
            'wrote into pod ns/a: "0/9 nodes"'
        )
        assert (found.waits, found.cause) == (None, "unknown")

    def test_without_queues_a_missing_queue_is_no_reason(self, ask: Any) -> None:
        found = ask("pod/a", PROPORTION, node("n1"), group("pg", 1), pod("a", "pg"))
        assert found.sentence == "it is not known why pod ns/a waits: the log holds no queues"

    def test_without_podgroups_a_missing_one_is_no_reason(self, ask: Any) -> None:
        found = ask("pod/a", PROPORTION, node("n1"), queue("default"), pod("a", "pg"))
        assert found.sentence == "it is not known why pod ns/a waits: the log holds no podgroups"

    def test_a_bound_pod_needs_nothing_else(self, ask: Any) -> None:
        found = ask("pod/a", "", pod("a", "pg", 1, "n1"))
        assert found.sentence == "pod ns/a does not wait: it runs on node n1"

    def test_the_assumed_configuration_is_marked(self, ask: Any) -> None:
        world = (node("n1", 1), queue("default"), queue("root"), group("pg", 1))
        found = ask("pod/a", "", *world, pod("a", "pg", 2))
        assert found.asked.conf == "built into v1.12.1"
        assert found.asked.assumed == (
            "the log holds no configuration of the scheduler: v1.12.1 runs with its built-in one",
        )
        assert "n1 lacks 1 cpu" in found.sentence or "its share" in found.sentence

    def test_kinds_that_are_not_fully_known_are_named(self, ask: Any) -> None:
        found = ask("pod/a", PROPORTION, queue("default"), group("pg", 1), pod("a", "pg"))
        assert [one.name for one in found.not_known] == ["nodes"]


def test_an_answer_is_plain_data(ask: Any) -> None:
    world = (node("n1"), queue("default"), group("pg", 1), pod("a", "pg", 99))
    document_of = why_document(ask("pod/a", PROPORTION, *world))
    assert document_of["asked"]["kind"] == "pod"
    assert [link["reason"] for link in document_of["chain"]][:2] == ["pod", "podgroup"]


class TestStaleCaches:
    def test_a_cache_that_lost_the_podgroup_is_the_reason(self, tmp_path: Path) -> None:
        world = (node("n1"), queue("default"), group("pg", 1), pod("a", "pg"))
        with log_of(tmp_path, NODES, *world) as log:
            scene, behaviours = scene_at(log, "end"), resolve("v1.8.2")
            cache = belief_at(log.store, scene.moment, behaviours)
            lost = cache.jobs["ns/pg"]
            lost.unset_pod_group()
            lost.delete_task("uid-a")
            cache.job_cache.infos.pop("ns/pg")
            run = run_of(scene, behaviours, cache, {"ns/pg", "ns/a"})
            held = run.pod("ns/a")
            assert held is not None
            found = pod_finding(run, "ns/a", held)
        assert found.cause == "stale-cache ns/pg"
        assert found.sentence == (
            "pod ns/a waits with its podgroup ns/pg because the scheduler's cache does not have "
            f"its PodGroup ns/pg, which exists since {CREATED}: sessions do not see the job"
        )
        told = [(one.kind, one.name) for one in links_of(found.chain, Drifted)]
        assert told == [("PodGroup", "ns/pg"), ("Pod", "ns/a")]

    def test_a_node_that_came_back_seems_empty(self, tmp_path: Path) -> None:
        home = node("n1", 4)
        events = [
            *(("ADDED", one) for one in (queue("default"), home, group("old", 1, "Running"))),
            ("ADDED", pod("old", "old", 4, "n1")),
            ("DELETED", home),
            ("ADDED", home),
            *(("ADDED", one) for one in (group("pg", 1), pod("a", "pg", 4))),
        ]
        with watched_log(tmp_path, NODES, *events) as log:
            found = why_at(log, log.object("pod/a"), namespace="ns", release="v1.8.2")
        drift = links_of(found.chain, Drifted)
        assert [(one.name, one.field, one.truth, one.belief) for one in drift][:1] == [
            ("n1", "used.cpu", "4", "0")
        ]
        assert found.sentence == (
            "pod ns/a waits only for the next session, which binds it to node n1; but the "
            "scheduler's cache is wrong about that node"
        )

"""The first sentence of ``why`` about pods, for each kind of reason; and what is not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer_worlds import NODES, PROPORTION, links, links_of, log_of, watched_log

from plinian.engine.errors import ObjectNotFound, UsageError
from plinian.engine.volcano.session.history import resolve
from plinian.replay.answers.answering_session import run_of
from plinian.replay.answers.pod_reasons import pod_finding
from plinian.replay.answers.records import (
    Drifted,
    EvictionTry,
    Nodes,
    PodGroupState,
    Recorded,
)
from plinian.replay.answers.why import why_at
from plinian.replay.belief.belief import belief_at
from plinian.replay.render.documents import plain
from plinian.replay.sessions.session_answer import scene_at
from sessions import CREATED, group, node, pod, queue


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
            "lacks 1 cpu); big has no nvidia.com/gpu"
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
            "cordoned; no node has 4 cpu, even when it is empty"
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
            "pod ns/a waits until pod ns/leaving, which is being deleted, frees resources: it will "
            "go to node n1"
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

    def test_a_sentence_says_which_configuration_it_assumes(self, ask: Any) -> None:
        world = (node("n1"), queue("default"), group("pg", 1), pod("a", "pg"))
        assumed = "(assuming the built-in configuration of v1.12.1"
        found = ask("pod/a", "", *world)
        assert found.sentence == (
            f"pod ns/a waits only for the next session, which binds it to node n1 {assumed})"
        )
        assert assumed not in ask("pod/a", NODES, *world).sentence

    def test_a_configuration_that_ignores_the_tree_of_queues_is_assumed_aloud(
        self, ask: Any
    ) -> None:
        tree = (queue("root"), queue("default", parent="team"), queue("team", parent="root"))
        world = (node("n1"), group("pg", 1), pod("a", "pg"))
        end = "which ignores that queues have parents)"
        assert ask("pod/a", "", *world, *tree).sentence.endswith(end)

    def test_deserved_amounts_that_the_assumed_configuration_ignores(self, ask: Any) -> None:
        deserved = queue("default", parent="root", deserved={"cpu": "8"})
        world = (node("n1"), queue("root"), deserved, group("pg", 1), pod("a", "pg"))
        end = "which ignores that queues have deserved amounts)"
        assert ask("pod/a", "", *world).sentence.endswith(end)

    def test_a_plugin_that_no_release_has_is_missing_aloud(self, ask: Any) -> None:
        world = (node("n1"), queue("default"), group("pg", 1), pod("a", "pg"))
        own = f"{NODES}  - name: ours\n  - name: theirs\n"
        assert ask("pod/a", own, *world).sentence == (
            "pod ns/a waits only for the next session, which binds it to node n1 (without the "
            "plugins ours and theirs, which no release of Volcano has)"
        )
        assert "no release" not in ask("pod/a", NODES, *world).sentence

    def test_what_no_configuration_changes_assumes_none(self, ask: Any) -> None:
        cordoned = node("n1", spec={"unschedulable": True})
        world = (cordoned, queue("default"), group("pg", 1), pod("a", "gone"))
        for named in ("pod/a", "node/n1"):
            assert "assuming" not in ask(named, "", *world).sentence

    def test_kinds_that_are_not_fully_known_are_named(self, ask: Any) -> None:
        found = ask("pod/a", PROPORTION, queue("default"), group("pg", 1), pod("a", "pg"))
        assert [one.name for one in found.not_known] == ["nodes"]


def test_an_answer_is_plain_data(ask: Any) -> None:
    world = (node("n1"), queue("default"), group("pg", 1), pod("a", "pg", 99))
    document = plain(ask("pod/a", PROPORTION, *world))
    assert document["asked"]["kind"] == "pod"
    assert [link["reason"] for link in document["chain"]][:2] == ["pod", "podgroup"]


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
        assert found.full_cause == "stale-cache ns/pg"
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

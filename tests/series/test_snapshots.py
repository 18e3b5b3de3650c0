"""Snapshots have the shapes that other programs read, and the state of the moment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from answer_worlds import NODES
from answer_worlds import log_of as made_log
from click.testing import CliRunner

import plinian
from plinian import Log
from plinian.replay.cli.main import app
from sessions import document, group, node, pod, queue

AT = "2026-11-21T01:53:36Z"
OF_ONE_CLUSTER = {"uid", "resourceVersion", "ownerReferences", "creationTimestamp", "managedFields"}

Document = dict[str, Any]


@pytest.fixture(scope="module")
def log(recording: Log) -> Log:
    """Return the log of the recording that comes with Plinian."""
    return recording


@pytest.fixture(scope="module")
def simulator(log: Log, tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Return what kube-scheduler-simulator would import."""
    place = tmp_path_factory.mktemp("simulator") / "snapshot.json"
    log.export(place, what="simulator", at=AT)
    found: Document = json.loads(place.read_bytes())
    return found


@pytest.fixture(scope="module")
def kwok(log: Log, tmp_path_factory: pytest.TempPathFactory) -> list[Document]:
    """Return the manifests for a cluster of KWOK."""
    place = tmp_path_factory.mktemp("kwok") / "cluster.yaml"
    count = log.export(place, what="kwok", at=AT)
    found = list(yaml.safe_load_all(place.read_text("utf-8")))
    assert len(found) == count
    return found


def test_a_snapshot_for_the_simulator_has_the_lists_that_it_imports(simulator: Document) -> None:
    lists = {"pods", "nodes", "pvs", "pvcs", "storageClasses", "priorityClasses", "namespaces"}
    assert simulator.keys() == lists | {"schedulerConfig"}
    assert all(isinstance(simulator[name], list) for name in lists)
    names = [one["schedulerName"] for one in simulator["schedulerConfig"]["profiles"]]
    assert names == ["default-scheduler", "volcano"], "a pod of each scheduler is scheduled"
    assert len(simulator["nodes"]) == 5
    assert {one["metadata"]["name"] for one in simulator["priorityClasses"]} == {
        *("low", "normal", "urgent")
    }


def test_no_object_names_what_only_its_own_cluster_has(
    simulator: Document, kwok: list[Document]
) -> None:
    objects = [one for some in simulator.values() if isinstance(some, list) for one in some]
    for one in (*objects, *kwok):
        assert OF_ONE_CLUSTER.isdisjoint(one["metadata"])
    assert all("serviceAccountName" not in one["spec"] for one in simulator["pods"])


def test_pods_are_where_they_were_and_finished_ones_are_left_out(
    log: Log, simulator: Document
) -> None:
    held = log.get("pods", at=AT)
    lives = {
        (one["metadata"]["name"], one["spec"].get("nodeName"))
        for one in held
        if one["status"]["phase"] not in {"Succeeded", "Failed"}
    }
    assert len(lives) < len(held)
    found = {(one["metadata"]["name"], one["spec"].get("nodeName")) for one in simulator["pods"]}
    assert found == lives
    assert ("gpu-2-gpu-0", None) in found


def test_nodes_are_fake_and_have_what_they_had(log: Log, kwok: list[Document]) -> None:
    nodes = [one for one in kwok if one["kind"] == "Node"]
    assert {one["metadata"]["annotations"]["kwok.x-k8s.io/node"] for one in nodes} == {"fake"}
    held = {one["metadata"]["name"]: one["status"] for one in log.get("nodes", at=AT)}
    for one in nodes:
        before = held[one["metadata"]["name"]]
        assert one["status"]["allocatable"] == before["allocatable"]
        assert one["status"]["capacity"] == before["capacity"]
        assert "images" not in one["status"]


def test_manifests_come_after_what_they_need(kwok: list[Document]) -> None:
    order = list(dict.fromkeys(one["kind"] for one in kwok))
    assert order == [
        *("Namespace", "ServiceAccount", "PriorityClass", "Queue", "Node", "PodGroup", "Pod")
    ]
    accounts = {
        (one["metadata"]["namespace"], one["metadata"]["name"])
        for one in kwok
        if one["kind"] == "ServiceAccount"
    }
    for one in kwok:
        if one["kind"] == "Pod":
            assert (one["metadata"]["namespace"], one["spec"]["serviceAccountName"]) in accounts


def test_a_cluster_made_of_a_snapshot_holds_as_much(
    log: Log, kwok: list[Document], tmp_path: Path
) -> None:
    """The same nodes are used by as much, read back as a list of ``kubectl get``."""
    place = tmp_path / "cluster.json"
    for number, one in enumerate(kwok, start=1):
        one["metadata"] |= {"resourceVersion": str(number), "uid": f"uid-{number}"}
    place.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": kwok}), "utf-8")
    with plinian.open(tmp_path / "again.db", create=True) as again:
        again.ingest(place)
        now, then = again.diff("@0"), log.diff("rv:1", AT)
    for found, held in ((now.nodes, then.nodes), (now.queues, then.queues)):
        assert {one.name: one.after for one in found} == {one.name: one.after for one in held}
        assert len(found) > 2


def test_what_a_snapshot_cannot_carry_is_said(log: Log, tmp_path: Path) -> None:
    said: list[str] = []
    log.export(tmp_path / "s.json", what="simulator", at=AT, remark=said.append)
    assert "5 queues, 12 podgroups, 15 jobs: no gang, no share and no quota" in said
    assert "10 pods that finished: left out, as they would start again" in said
    words = ["export", str(tmp_path / "k.yaml"), "--what", "kwok", "--at", AT, "--log", log.place]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.stderr
    assert "not carried: the CRDs of Volcano: install it before" in done.stderr
    assert "objects written to" in done.stderr


def test_a_log_with_less_makes_namespaces_and_says_what_lacks(tmp_path: Path) -> None:
    asleep = node("n1", 4)
    asleep["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    waiting = pod("a", "pg", 1)
    waiting["spec"]["priorityClassName"] = "high"
    leaving = pod("b", "pg", 1, "n1")
    leaving["metadata"]["deletionTimestamp"] = "2025-11-21T14:00:00Z"
    volume = document("PersistentVolume", "v1", spec={"claimRef": {"name": "c", "uid": "u"}})
    volume["status"] = {"phase": "Bound", "message": "m"}
    world = (asleep, queue("default"), group("pg", 1), waiting, leaving, volume)
    said: list[str] = []
    with made_log(tmp_path, NODES, *world):
        pass
    with plinian.open(tmp_path / "log.db") as log:
        log.export(tmp_path / "k.yaml", what="kwok", remark=said.append)
        log.export(tmp_path / "s.json", what="simulator")
    assert "that 1 node is not Ready: KWOK makes nodes Ready" in said
    assert "1 pod being deleted: there they stay" in said
    assert "PriorityClass high: pods name it, and the log does not hold it" in said
    found = list(yaml.safe_load_all((tmp_path / "k.yaml").read_text("utf-8")))
    assert found[0] == {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}
    snapshot = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert snapshot["pvs"][0]["status"] == {"phase": "Bound"}
    assert snapshot["pvs"][0]["spec"]["claimRef"] == {"name": "c"}


def test_topology_budgets_and_quotas_are_carried_where_they_can_be(tmp_path: Path) -> None:
    """Each object comes after those that it needs, and quotas after the pods that they count."""

    def hyper(name: str, tier: int, member: str) -> Document:
        kind = "Node" if tier == 1 else "HyperNode"
        members = [{"type": kind, "selector": {"exactMatch": {"name": member}}}]
        made = document("HyperNode", name, spec={"tier": tier, "members": members})
        return {"apiVersion": "topology.volcano.sh/v1alpha1", **made}

    labels = {"matchLabels": {"app": "x"}}
    budget = document("PodDisruptionBudget", "b", "ns", spec={"selector": labels})
    world = (
        node("n1", 4),
        queue("a-child", parent="parent"),
        queue("parent", parent="root"),
        queue("root"),
        hyper("above", 2, "s0"),
        hyper("s0", 1, "n1"),
        {"apiVersion": "policy/v1", **budget, "status": {"disruptionsAllowed": 1}},
        document("ResourceQuota", "q", "alone", spec={"hard": {"pods": "9"}}),
        group("pg", 1, queue="a-child"),
        pod("a", "pg", 1),
    )
    said: list[str] = []
    with made_log(tmp_path, NODES, *world):
        pass
    with plinian.open(tmp_path / "log.db") as log:
        log.export(tmp_path / "k.yaml", what="kwok")
        log.export(tmp_path / "s.json", what="simulator", remark=said.append)
    found = list(yaml.safe_load_all((tmp_path / "k.yaml").read_text("utf-8")))
    assert [(one["kind"], one["metadata"]["name"]) for one in found] == [
        *(("Namespace", name) for name in ("alone", "ns")),
        *(("Queue", name) for name in ("root", "parent", "a-child")),
        ("Node", "n1"),
        *(("HyperNode", name) for name in ("s0", "above")),
        ("PodDisruptionBudget", "b"),
        ("PodGroup", "pg"),
        ("Pod", "a"),
        ("ResourceQuota", "q"),
    ]
    assert next(one for one in found if one["kind"] == "ResourceQuota")["spec"] == {
        "hard": {"pods": "9"}
    }
    assert all("status" not in one for one in found if one["kind"] != "Node")
    for text in (
        "2 hypernodes: no network topology",
        "1 poddisruptionbudget: preemption breaks them",
        "1 resourcequota: no namespace has a limit",
    ):
        assert text in said


@pytest.mark.parametrize("parent", ["a", "b", "gone"])
def test_queues_whose_parents_cannot_come_first_are_written_all_the_same(
    tmp_path: Path, parent: str
) -> None:
    world = (node("n1", 4), queue("a", parent=parent), queue("b", parent="a"))
    with made_log(tmp_path, NODES, *world):
        pass
    with plinian.open(tmp_path / "log.db") as log:
        log.export(tmp_path / "k.yaml", what="kwok")
    found = yaml.safe_load_all((tmp_path / "k.yaml").read_text("utf-8"))
    assert sorted(one["metadata"]["name"] for one in found if one["kind"] == "Queue") == ["a", "b"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["s.yaml", "--what", "simulator"], "a snapshot for simulator is JSON"),
        (["s.json", "--what", "kwok"], "a snapshot for kwok is YAML"),
        (["s.json", "--what", "simulator", "--format", "csv"], "is JSON"),
        (["s.csv", "--what", "nodes", "--at", AT], "nodes has no moment"),
        (["s.json", "--what", "simulator", "--at", "soon"], "invalid point"),
    ],
    ids=["simulator", "kwok", "format", "at", "point"],
)
def test_a_snapshot_that_cannot_be_made_is_refused(
    log: Log, tmp_path: Path, words: list[str], said: str
) -> None:
    place = tmp_path / words[0]
    done = CliRunner().invoke(app, ["export", str(place), *words[1:], "--log", log.place])
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert not place.exists()

"""Deployments, ReplicaSets and StatefulSets get their pods, as from kube-controller-manager."""

from __future__ import annotations

from typing import Any

import pytest
from recording_client import Fault
from running_components import RunningComponents

from plinian.engine.controllers.deployments import DeploymentController
from plinian.engine.controllers.kubelet import Kubelets
from plinian.engine.controllers.replicasets import ReplicaSetController
from plinian.engine.controllers.statefulsets import StatefulSetController
from plinian.engine.kubernetes.api_server import Document
from plinian.engine.kubernetes.object_table import ObjectTable
from plinian.engine.kubernetes.units import SECOND_US


def _workload(kind: str, replicas: int, **spec: Any) -> Document:
    template = {
        "metadata": {"labels": {"app": "web"}, "annotations": {"a": "b"}},
        "spec": {"schedulerName": "volcano", "containers": [], "terminationGracePeriodSeconds": 5},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template,
            **spec,
        },
    }


def _new_template(image: str) -> Document:
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}}


def _scaled(replicas: int) -> Document:
    return {"spec": {"replicas": replicas}}


@pytest.fixture
def run() -> RunningComponents:
    """All controllers of workloads, with kubelets."""
    table = ObjectTable()
    return RunningComponents(
        DeploymentController(table),
        ReplicaSetController(table),
        StatefulSetController(table),
        Kubelets(table),
    )


def _bind_all(run: RunningComponents) -> None:
    """Bind all pods that wait, until no more come."""
    while waiting := [pod for pod in run.api.list("Pod") if not pod["spec"].get("nodeName")]:
        for pod in waiting:
            run.api.bind(f"default/{pod['metadata']['name']}", "n1")
        run.settle()


def _replicas(run: RunningComponents) -> list[int]:
    return [one["spec"]["replicas"] for one in run.api.list("ReplicaSet")]


def test_a_replicaset_creates_pods_of_its_template_that_it_controls(run: RunningComponents) -> None:
    run.create(_workload("ReplicaSet", 2))
    assert run.names("Pod") == ["web-1", "web-2"]
    pod = run.api.get("Pod", "default/web-1")
    assert pod["metadata"]["labels"] == {"app": "web"}
    assert pod["metadata"]["annotations"] == {"a": "b"}
    (owner,) = pod["metadata"]["ownerReferences"]
    uid = run.api.get("ReplicaSet", "default/web")["metadata"]["uid"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("ReplicaSet", uid, True)


def test_a_replicaset_deletes_the_youngest_pods_without_a_node_first(
    run: RunningComponents,
) -> None:
    run.create(_workload("ReplicaSet", 4))
    run.api.bind("default/web-3", "n1")
    run.settle()
    run.change("ReplicaSet", "default/web", _scaled(2))
    assert run.names("Pod") == ["web-1", "web-3"]
    status = run.api.get("ReplicaSet", "default/web")["status"]
    assert (status["replicas"], status["readyReplicas"]) == (2, 1)


def test_a_replicaset_does_not_wait_until_a_pod_has_ended(run: RunningComponents) -> None:
    run.create(_workload("ReplicaSet", 1))
    _bind_all(run)
    run.api.delete("Pod", "default/web-1")
    run.settle()
    assert run.names("Pod") == ["web-1", "web-2"]
    run.wait(5 * SECOND_US)
    assert run.names("Pod") == ["web-2"]


def test_a_replicaset_counts_no_pods_before_it_has_seen_those_that_it_created() -> None:
    run = RunningComponents(ReplicaSetController(ObjectTable()))
    (controller,) = run.components
    run.api.create(_workload("ReplicaSet", 2))
    run.deliver()
    controller.step("replicaset", run.client)
    pods = [change for change in run.api.take_changes() if change.kind == "Pod"]
    for change, expected in zip(pods, ([], []), strict=True):
        run.sent()
        controller.deliver(*change, run.client)
        controller.step("replicaset", run.client)
        created = [request for request in run.sent() if request.startswith("create")]
        assert created == expected
    assert run.names("Pod") == ["web-1", "web-2"]


def test_a_creation_that_fails_is_tried_again_later(run: RunningComponents) -> None:
    run.client.faults.append(
        Fault({"verb": "create", "resource": "pods", "error": "timeout", "times": 1})
    )
    run.create(_workload("ReplicaSet", 2))
    assert run.names("Pod") == []
    run.wait(5_000)
    assert run.names("Pod") == ["web-2", "web-3"]


def test_a_deployment_creates_one_replicaset_and_scales_it(run: RunningComponents) -> None:
    run.create(_workload("Deployment", 2))
    assert (len(run.names("ReplicaSet")), len(run.names("Pod"))) == (1, 2)
    run.change("Deployment", "default/web", _scaled(0))
    assert (_replicas(run), run.names("Pod")) == ([0], [])
    run.change("Deployment", "default/web", _scaled(3))
    assert (_replicas(run), len(run.names("Pod"))) == ([3], 3)


def test_a_new_template_replaces_pods_as_new_ones_become_ready(run: RunningComponents) -> None:
    run.create(_workload("Deployment", 4))
    _bind_all(run)
    run.change("Deployment", "default/web", _new_template("new"))
    assert sorted(_replicas(run)) == [2, 3]
    _bind_all(run)
    assert sorted(_replicas(run)) == [0, 4]
    run.wait(60 * SECOND_US)
    assert len(run.names("Pod")) == 4
    hashes = {pod["metadata"]["labels"]["pod-template-hash"] for pod in run.api.list("Pod")}
    assert len(hashes) == 1


def test_new_pods_stay_when_there_is_suddenly_less_room_for_them(run: RunningComponents) -> None:
    def strategy(surge: int) -> dict[str, Any]:
        return {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": 0}}

    run.create(_workload("Deployment", 4, strategy=strategy(4)))
    _bind_all(run)
    run.change("Deployment", "default/web", _new_template("new"))
    assert _replicas(run) == [4, 4]
    run.change("Deployment", "default/web", {"spec": {"strategy": strategy(1)}})
    assert _replicas(run) == [4, 4]


def test_a_deployment_of_one_pod_never_goes_without(run: RunningComponents) -> None:
    run.create(_workload("Deployment", 1))
    _bind_all(run)
    run.change("Deployment", "default/web", _new_template("new"))
    assert _replicas(run) == [1, 1]
    _bind_all(run)
    assert sorted(_replicas(run)) == [0, 1]


def test_a_deployment_that_recreates_stops_the_old_pods_first(run: RunningComponents) -> None:
    run.create(_workload("Deployment", 2, strategy={"type": "Recreate"}))
    _bind_all(run)
    run.sent()
    run.change("Deployment", "default/web", _new_template("new"))
    sent = run.sent()
    create = next(place for place, one in enumerate(sent) if one.startswith("create replicasets"))
    assert sum(one.startswith("delete pods") for one in sent[:create]) == 2
    assert sorted(_replicas(run)) == [0, 2]


def test_annotations_of_a_deployment_reach_its_replicaset(run: RunningComponents) -> None:
    run.create(_workload("Deployment", 1))
    annotations = {"scheduling.volcano.sh/group-min-member": "2"}
    run.change("Deployment", "default/web", {"metadata": {"annotations": annotations}})
    (replicaset,) = run.api.list("ReplicaSet")
    assert replicaset["metadata"]["annotations"] == annotations


def test_a_statefulset_creates_one_pod_after_another(run: RunningComponents) -> None:
    run.create(_workload("StatefulSet", 3))
    assert run.names("Pod") == ["web-0"]
    _bind_all(run)
    assert run.names("Pod") == ["web-0", "web-1", "web-2"]
    run.change("StatefulSet", "default/web", _scaled(1))
    assert "deletionTimestamp" not in run.api.get("Pod", "default/web-1")["metadata"]
    run.wait(5 * SECOND_US)
    run.wait(5 * SECOND_US)
    assert run.names("Pod") == ["web-0"]


def test_a_statefulset_waits_until_the_old_pod_is_gone(run: RunningComponents) -> None:
    run.create(_workload("StatefulSet", 1))
    _bind_all(run)
    old = run.api.get("Pod", "default/web-0")["metadata"]
    run.change("StatefulSet", "default/web", _new_template("new"))
    assert run.api.get("Pod", "default/web-0")["metadata"]["uid"] == old["uid"]
    run.wait(5 * SECOND_US)
    new = run.api.get("Pod", "default/web-0")["metadata"]
    assert new["uid"] != old["uid"]
    revision = run.api.get("StatefulSet", "default/web")["status"]["updateRevision"]
    assert new["labels"]["controller-revision-hash"] == revision


def test_a_failed_pod_of_a_statefulset_is_replaced(run: RunningComponents) -> None:
    run.create(_workload("StatefulSet", 1))
    old = run.api.get("Pod", "default/web-0")["metadata"]["uid"]
    run.change("Pod", "default/web-0", {"status": {"phase": "Failed"}})
    assert run.api.get("Pod", "default/web-0")["metadata"]["uid"] != old


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_controllers_that_are_put_together_again_go_on_alike(kind: str) -> None:
    def made() -> list[Any]:
        return [
            DeploymentController(table),
            ReplicaSetController(table),
            StatefulSetController(table),
            Kubelets(table),
        ]

    table = ObjectTable()
    run = RunningComponents(*made())
    run.create(_workload(kind, 2))
    again = RunningComponents(*made())
    again.api = type(run.api)(run.api.kept())
    again.client.api = again.api
    for one, other in zip(run.components, again.components, strict=True):
        other.restore(one.kept())  # type: ignore[attr-defined]
        assert other.kept() == one.kept()
    for each in (run, again):
        each.change(kind, "default/web", _scaled(4))
        _bind_all(each)
    assert again.names("Pod") == run.names("Pod")
    assert len(run.names("Pod")) == 4
    assert [one.kept() for one in again.components] == [one.kept() for one in run.components]

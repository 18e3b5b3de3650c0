"""What Volcano's PodGroup controller does that no recorded case shows."""

from __future__ import annotations

from typing import Any

from recording_client import RecordingClient

from plinian.engine.controllers.podgroup_controller import PodGroupController
from plinian.engine.kubernetes.api_server import ApiServer
from plinian.engine.kubernetes.object_table import ObjectTable
from plinian.engine.volcano.table import controller_behaviours

OWNER = {"kind": "ReplicaSet", "name": "web", "uid": "rs-a", "controller": True}


def _replicaset(replicas: int) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default", "uid": "rs-a"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}},
    }


def _pod(name: str, *owners: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {"app": "web"},
            "ownerReferences": list(owners),
        },
        "spec": {"schedulerName": "volcano", "containers": []},
        "status": {"phase": "Pending"},
    }


class Run:
    """A controller that is told at once what an API server stores."""

    def __init__(self, release: str) -> None:
        self.api = ApiServer()
        self.client = RecordingClient(self.api)
        self.controller = PodGroupController(controller_behaviours(release), ObjectTable())

    def create(self, document: dict[str, Any]) -> None:
        """Create an object, and deliver it."""
        self.api.create(document)
        self.deliver()

    def deliver(self) -> None:
        """Deliver what is to be delivered."""
        while changes := self.api.take_changes():
            for change in changes:
                if change.kind in self.controller.kinds:
                    self.controller.deliver(*change, self.client)

    def work(self) -> None:
        """Let the worker take what is ready."""
        while self.controller.steps():
            self.controller.step(*self.controller.steps(), self.client)

    def sent(self) -> list[str]:
        """Return what was sent since this was last asked."""
        sent = [request["do"] for request in self.client.requests]
        self.client.requests.clear()
        return sent


def test_a_podgroup_without_labels_is_updated_by_every_change_of_its_replicaset() -> None:
    run = Run("v1.14.0")
    run.create(_pod("web-1", OWNER))
    run.create(_replicaset(1))
    run.deliver()
    run.sent()
    run.api.patch("Pod", "default/web-1", {"metadata": {"annotations": None}})
    version = run.api.get("PodGroup", "default/podgroup-rs-a")["metadata"]["resourceVersion"]
    run.api.patch("ReplicaSet", "default/web", {"spec": {"replicas": 2}})
    run.deliver()
    assert "update podgroups default/podgroup-rs-a" in run.sent()
    group = run.api.get("PodGroup", "default/podgroup-rs-a")
    assert group["metadata"]["resourceVersion"] == version


def test_a_hardened_controller_deletes_only_the_version_that_it_has_seen() -> None:
    for release, survives in (("v1.15.1", False), ("hardened", True)):
        run = Run(release)
        run.create(_pod("web-1", OWNER))
        run.work()
        run.deliver()
        run.api.patch("PodGroup", "default/podgroup-rs-a", {"status": {"phase": "Running"}})
        scaled = run.api.create(_replicaset(0))
        run.controller.deliver("ADDED", "ReplicaSet", "default/web", scaled, run.client)
        assert "delete podgroups default/podgroup-rs-a" in run.sent()
        assert (run.api.find("PodGroup", "default/podgroup-rs-a") is not None) is survives


def test_of_two_owners_the_first_has_its_way_since_v1_12() -> None:
    owners = [OWNER, {**OWNER, "name": "other", "uid": "rs-b", "controller": False}]
    for release, expected in (("v1.11.0", "second"), ("v1.12.0", "first")):
        run = Run(release)
        for name, text in (("web", "first"), ("other", "second")):
            owner = _replicaset(1)
            owner["metadata"] |= {"name": name, "annotations": {"volcano.sh/a": text}}
            run.api.create(owner)
        run.api.take_changes()
        run.create(_pod("web-1", *owners))
        run.work()
        group = run.api.get("PodGroup", "default/podgroup-rs-a")
        assert group["metadata"]["annotations"] == {"volcano.sh/a": expected}


def test_a_worker_comes_back_to_a_pod_whose_request_failed() -> None:
    run = Run("v1.15.1")
    run.create(_pod("lone"))
    run.api.delete("Pod", "default/lone")
    run.work()
    assert run.controller.due() == 5_000
    run.deliver()
    run.controller.advance(5_000)
    run.work()
    assert run.controller.due() is None

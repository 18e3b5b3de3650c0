"""Kubelets whose pods take time, and the collector of pods whose node is gone."""

from __future__ import annotations

from running_components import RunningComponents

from plinian.engine.controllers.pod_collector import WAITS_US, PodCollector
from plinian.engine.controllers.timed_kubelets import End, TimedKubelets
from plinian.engine.kubernetes.api_server import Document
from plinian.engine.kubernetes.units import SECOND_US


class Times:
    """Pods start after 2 s, run for 5 s unless they are called ``endless``, and end after 3 s."""

    def start(self, _: Document) -> int:
        return 2 * SECOND_US

    def finish(self, pod: Document) -> End | None:
        endless = pod["metadata"]["name"] == "endless"
        return None if endless else End(5 * SECOND_US, "Failed")

    def end(self, _: Document) -> int:
        return 3 * SECOND_US


def pod(name: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": []},
        "status": {"phase": "Pending"},
    }


def running(*names: str) -> RunningComponents:
    run = RunningComponents(TimedKubelets(Times()))
    for name in names:
        run.create(pod(name))
        run.api.bind(f"default/{name}", "n1")
    run.settle()
    return run


def phase(run: RunningComponents, name: str) -> str:
    found: str = run.api.get("Pod", f"default/{name}")["status"]["phase"]
    return found


def test_a_pod_starts_runs_and_finishes_in_its_times() -> None:
    run = running("a")
    assert phase(run, "a") == "Pending"
    run.wait(2 * SECOND_US - 1)
    assert phase(run, "a") == "Pending"
    run.wait(1)
    assert phase(run, "a") == "Running"
    run.wait(5 * SECOND_US)
    assert phase(run, "a") == "Failed"
    assert run.components[0].due() is None


def test_a_pod_that_never_ends_runs_on() -> None:
    run = running("endless")
    run.wait(2 * SECOND_US)
    assert phase(run, "endless") == "Running"
    assert run.components[0].due() is None


def test_a_pod_that_is_deleted_is_gone_later_and_neither_starts_nor_finishes() -> None:
    run = running("a")
    run.api.delete("Pod", "default/a")
    run.settle()
    run.wait(2 * SECOND_US)
    assert phase(run, "a") == "Pending"
    run.wait(SECOND_US)
    assert run.names("Pod") == []


def test_a_pod_of_the_same_name_begins_anew() -> None:
    run = running("a")
    run.api.delete("Pod", "default/a", grace=0)
    run.settle()
    run.wait(SECOND_US)
    run.create(pod("a"))
    run.api.bind("default/a", "n2")
    run.settle()
    run.wait(SECOND_US)
    assert phase(run, "a") == "Pending", "the first one would run now"
    run.wait(SECOND_US)
    assert phase(run, "a") == "Running"


def test_pods_of_a_node_that_is_gone_are_deleted_when_it_was_gone_for_long() -> None:
    run = RunningComponents(PodCollector())
    for name in ("n1", "n2"):
        run.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    for name, node in (("a", "n1"), ("b", "n2")):
        run.create(pod(name))
        run.api.bind(f"default/{name}", node)
    run.settle()
    run.api.delete("Node", "n1")
    run.settle()
    run.wait(WAITS_US - 1)
    assert run.names("Pod") == ["a", "b"]
    run.wait(1)
    assert run.names("Pod") == ["b"]


def test_a_node_that_comes_back_keeps_its_pods() -> None:
    run = RunningComponents(PodCollector())
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    run.create(node)
    run.create(pod("a"))
    run.api.bind("default/a", "n1")
    run.api.delete("Node", "n1")
    run.settle()
    run.wait(WAITS_US - 1)
    run.create(node)
    run.settle()
    run.wait(WAITS_US)
    assert run.names("Pod") == ["a"]

"""Kubelets start pods that have a node, and end those that are deleted when their time is over."""

from __future__ import annotations

import pytest
from running_components import RunningComponents

from plinian.engine.controllers.kubelet import ENDS_AS, Kubelets
from plinian.engine.kubernetes.api_server import Document
from plinian.engine.kubernetes.object_table import ObjectTable
from plinian.engine.kubernetes.units import SECOND_US


def _pod(name: str, seconds: int = 30) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [], "terminationGracePeriodSeconds": seconds},
        "status": {"phase": "Pending"},
    }


def _run() -> RunningComponents:
    run = RunningComponents(Kubelets(ObjectTable()))
    run.create(_pod("a"))
    run.create(_pod("b", seconds=10))
    return run


def test_only_a_pod_with_a_node_is_started() -> None:
    run = _run()
    run.api.bind("default/a", "n1")
    run.settle()
    phases = [pod["status"]["phase"] for pod in run.api.list("Pod")]
    assert phases == ["Running", "Pending"]
    assert run.sent() == ["patch pods/status default/a"]


def test_a_pod_is_gone_when_its_time_to_end_is_over() -> None:
    run = _run()
    for name in ("a", "b"):
        run.api.bind(f"default/{name}", "n1")
        run.settle()
        run.api.delete("Pod", f"default/{name}")
        run.settle()
    (kubelets,) = run.components
    assert kubelets.due() == 10 * SECOND_US
    run.wait(10 * SECOND_US)
    assert run.names("Pod") == ["a"]
    assert kubelets.due() == 20 * SECOND_US
    run.wait(20 * SECOND_US)
    assert run.names("Pod") == []
    assert kubelets.due() is None


def test_a_pod_that_is_deleted_while_it_starts_still_ends() -> None:
    run = _run()
    run.api.bind("default/b", "n1")
    run.deliver()
    run.api.delete("Pod", "default/b")
    run.settle()
    run.wait(10 * SECOND_US)
    assert run.names("Pod") == ["a"]


def test_a_pod_of_the_same_name_is_another_one() -> None:
    run = _run()
    for _ in range(2):
        run.api.bind("default/b", "n1")
        run.settle()
        assert run.api.get("Pod", "default/b")["status"]["phase"] == "Running"
        run.api.delete("Pod", "default/b", grace=0)
        run.create(_pod("b"))


def test_news_of_a_pod_that_has_ended_does_not_end_it_again() -> None:
    run = _run()
    run.api.bind("default/b", "n1")
    run.settle()
    run.api.delete("Pod", "default/b")
    run.settle()
    last = run.api.get("Pod", "default/b")
    (kubelets,) = run.components
    kubelets.advance(10 * SECOND_US)
    kubelets.step("end default/b", run.client)
    kubelets.deliver("MODIFIED", "Pod", "default/b", last, run.client)
    assert (kubelets.steps(), kubelets.due()) == ((), None)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_ends_by_itself_ends_once_it_runs(phase: str) -> None:
    run = _run()
    run.change("Pod", "default/a", {"metadata": {"annotations": {ENDS_AS: phase}}})
    run.api.bind("default/a", "n1")
    run.deliver()
    (kubelets,) = run.components
    assert kubelets.steps() == ("start default/a",)
    run.settle()
    ended = run.api.get("Pod", "default/a")["status"]
    assert ended["phase"] == phase
    assert [one["status"] for one in ended["conditions"]] == ["False"]
    assert run.sent() == ["patch pods/status default/a"] * 2


def test_a_pod_that_is_being_deleted_does_not_end_by_itself() -> None:
    run = _run()
    run.change("Pod", "default/b", {"metadata": {"annotations": {ENDS_AS: "Failed"}}})
    run.api.bind("default/b", "n1")
    run.deliver()
    (kubelets,) = run.components
    kubelets.step("start default/b", run.client)
    run.api.delete("Pod", "default/b")
    run.settle()
    assert run.api.get("Pod", "default/b")["status"]["phase"] == "Running"
    run.wait(10 * SECOND_US)
    assert run.names("Pod") == ["a"]

"""Another scheduler beside Volcano: which pods it binds, where, and what that leads to."""

from __future__ import annotations

from typing import Any

import pytest
from small_machines import settings
from walked_machines import WalkedMachine

from plinian.engine.kubernetes.api_server import Document
from plinian.engine.machine.cluster_machine import cluster
from plinian.engine.machine.natural import Natural
from plinian.engine.machine.user import UserAct


def pod(name: str, cpu: str = "3", scheduler: str | None = None, **spec: Any) -> Document:
    """Return a pod of another scheduler."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    named = {"schedulerName": scheduler} if scheduler else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {**named, "containers": [container], **spec},
    }


def node(name: str, cpu: str, *, labels: dict[str, str] | None = None, **spec: Any) -> Document:
    """Return a node."""
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "3"}
    metadata = {"name": name, "labels": labels or {}}
    status = {"allocatable": amounts, "capacity": amounts}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


def walked(nodes: list[Document], *pods: Document, release: str = "v1.15.1") -> WalkedMachine:
    """Return a cluster with these nodes, in which a user creates these pods."""
    given = settings(release, [UserAct("ADDED", one) for one in pods])
    machine, start = cluster(given._replace(existing=[*given.existing[:-1], *nodes]))
    return WalkedMachine(machine, start)


def binds(one: WalkedMachine) -> list[str]:
    """Return what the other scheduler can do."""
    return [step.partition(" ")[2] for step in one.can() if "scheduler binds default" in step]


def test_there_is_none_where_all_pods_wait_for_volcano() -> None:
    one = walked([node("n1", "4")], pod("a", scheduler="volcano"))
    assert "other-scheduler" not in one.machine.layout.names


@pytest.mark.parametrize("scheduler", [None, "default-scheduler", "mine"])
def test_it_binds_a_pod_to_any_node_on_which_it_fits(scheduler: str | None) -> None:
    taint = [{"key": "k", "effect": "NoSchedule"}]
    nodes = [
        node("n1", "4"),
        node("n2", "2"),
        node("n3", "4", unschedulable=True),
        node("n4", "4", taints=taint),
        node("n5", "4", labels={"disk": "ssd"}),
    ]
    one = walked(nodes, pod("a", scheduler=scheduler))
    one.make("user acts", "other-scheduler sees Pod")
    assert binds(one) == ["binds default/a to n1", "binds default/a to n5"]
    tolerating = {"tolerations": [{"key": "k", "operator": "Exists"}]}
    one = walked(nodes, pod("a", scheduler=scheduler, **tolerating))
    one.make("user acts", "other-scheduler sees Pod")
    assert binds(one) == [f"binds default/a to {name}" for name in ("n1", "n4", "n5")]
    one = walked(nodes, pod("a", scheduler=scheduler, nodeSelector={"disk": "ssd"}))
    one.make("user acts", "other-scheduler sees Pod")
    assert binds(one) == ["binds default/a to n5"]


def test_it_counts_what_it_has_bound_before_it_sees_that() -> None:
    one = walked([node("n1", "4"), node("n2", "4")], pod("a"), pod("b"))
    one.make("user acts", "user acts", *["other-scheduler sees Pod"] * 2)
    one.make("other-scheduler binds default/a to n1")
    assert binds(one) == ["binds default/b to n2"]
    one.make("other-scheduler sees Pod")
    assert binds(one) == ["binds default/b to n2"]


def test_places_for_pods_are_counted_too() -> None:
    pods = [pod(name, "0") for name in "abcd"]
    one = walked([node("n1", "4")], *pods)
    one.rest()
    for _ in pods:
        one.make("user acts")
    one.rest()
    placed = [doc["spec"].get("nodeName") for place, doc in one.objects() if place.kind == "Pod"]
    assert placed == ["n1", "n1", "n1", None]


def test_it_does_not_see_what_volcano_has_just_bound() -> None:
    ours, theirs = pod("ours", scheduler="volcano"), pod("theirs")
    one = walked([node("n1", "4")], ours, theirs, release="v1.8.2")
    one.make("user acts")
    machine, natural = one.machine, Natural(one.machine)
    while "scheduler binds" not in one.can():
        moved = natural.move(one.state, user=False, wait=False)
        assert moved is not None
        one.state = moved.state
    one.make("user acts", "other-scheduler sees Pod", "other-scheduler binds default/theirs to n1")
    one.make("scheduler binds")
    nodes = [
        (one.find("Pod", f"default/{name}") or {})["spec"]["nodeName"]
        for name in ("ours", "theirs")
    ]
    assert nodes == ["n1", "n1"]
    assert any("not sufficient" in panic for panic in Natural(machine).rest(one.state).panics)

"""Pods that request more than their containers: which init containers and sidecars do that."""

from __future__ import annotations

from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES, Document, links

from plinian.replay.answers.records import PodState
from sessions import group, node, pod, queue

WORLD = (node("n1", 1), queue("default"), group("pg"))


def init(name: str, cpu: float, **more: Any) -> Document:
    """Return an init container; with ``restartPolicy`` it is a sidecar."""
    return {"name": name, "resources": {"requests": {"cpu": str(cpu)}}, **more}


SIDECAR = init("proxy", 2, restartPolicy="Always")


def with_init(*containers: Document, cpu: float = 1, **spec: Any) -> Document:
    """Return a pod with init containers."""
    made = pod("a", "pg", cpu)
    made["spec"] |= {"initContainers": list(containers), **spec}
    return made


@pytest.mark.parametrize(
    ("asking", "whole", "because"),
    [
        (with_init(init("small", 2), init("load", 4)), 4, "init container load"),
        (with_init(SIDECAR), 3, "sidecar proxy"),
        (with_init(SIDECAR, init("load", 1)), 3, "sidecar proxy"),
        (with_init(SIDECAR, init("load", 4)), 6, "init container load"),
        (with_init(SIDECAR, overhead={"cpu": "1"}), 4, "sidecar proxy and its overhead"),
    ],
)
def test_what_makes_the_request_large_is_named(
    ask: Any, asking: Document, whole: int, because: str
) -> None:
    found = ask("pod/a", NODES, *WORLD, asking)
    assert f"n1 lacks {whole - 1} cpu" in found.sentence
    assert found.sentence.endswith(
        f"; it requests {whole} cpu because of {because} (its containers alone: 1)"
    )
    (state,) = links(found, PodState)
    assert state.request["cpu"] == str(whole)


def test_an_older_release_counts_a_sidecar_as_an_init_container(ask: Any) -> None:
    found = ask("pod/a", NODES, *WORLD, with_init(SIDECAR), release="v1.8.2")
    assert "it requests 2 cpu because of init container proxy" in found.sentence


def test_init_containers_that_need_no_more_are_not_named(ask: Any) -> None:
    found = ask("pod/a", NODES, *WORLD, with_init(init("load", 2), cpu=3))
    assert "init container" not in found.sentence


def test_a_queue_that_is_too_small_for_an_init_container(ask: Any) -> None:
    small = (queue("root"), queue("default", parent="root", capability={"cpu": "2"}))
    world = (node("n1", 9), *small, group("pg"), with_init(init("load", 4)))
    found = ask("pod/a", CAPACITY, *world)
    assert found.sentence.endswith(
        "all of the queue may use 2; it requests 4 cpu because of init container load (its "
        "containers alone: 1)"
    )

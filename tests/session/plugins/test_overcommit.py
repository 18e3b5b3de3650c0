"""The overcommit plugin: how much may be enqueued."""

from __future__ import annotations

import pytest

from plinian.engine.session.framework import voting
from sessions import Document, group, job, node, opened, pod, queue

CONF = """
actions: "enqueue"
tiers:
- plugins:
  - name: overcommit
    arguments:
      overcommit-factor: {factor}
"""


def waiting(name: str, cpu: int) -> Document:
    """Return a PodGroup that asks to be enqueued."""
    return group(name, phase="Pending", minResources={"cpu": str(cpu)})


def enqueueable(name: str, *more: Document, factor: object = 1.5) -> bool:
    """Return whether a group of that many cores is enqueued on 10 cores, 4 of them in use."""
    ssn, _ = opened(
        CONF.format(factor=factor),
        node("n1", 10),
        queue("default"),
        group("old", phase="Running"),
        pod("old-0", "old", 4, on="n1"),
        *more,
    )
    return voting.job_enqueueable(ssn, job(ssn, name), name)


def test_up_to_the_multiple_of_the_cluster_less_what_is_used() -> None:
    assert enqueueable("new", waiting("new", 11))
    assert not enqueueable("new", waiting("new", 12))


def test_the_factor_is_at_least_one() -> None:
    assert enqueueable("new", waiting("new", 8), factor=0.5), "1.2 in place of 0.5"
    assert not enqueueable("new", waiting("new", 9), factor=0.5)


def test_an_enqueued_group_keeps_what_it_asked_for() -> None:
    kept = group("kept", minResources={"cpu": "6"})
    assert enqueueable("new", waiting("new", 5), kept)
    assert not enqueueable("new", waiting("new", 6), kept)


def test_a_running_group_that_has_its_minimum_keeps_what_it_lacks() -> None:
    more = (
        group("spark", 1, phase="Running", minResources={"cpu": "6"}),
        pod("spark-0", "spark", 2, on="n1"),
    )
    assert enqueueable("new", waiting("new", 5), *more), "15 - 6 used - 4 kept"
    assert not enqueueable("new", waiting("new", 6), *more)


def test_what_gated_tasks_ask_for_is_not_kept() -> None:
    more = (
        group("kept", minResources={"cpu": "6"}),
        pod("kept-0", "kept", 6, schedulingGates=[{"name": "wait"}]),
    )
    assert enqueueable("new", waiting("new", 11), *more)


def test_a_group_without_min_resources_is_always_enqueued() -> None:
    assert enqueueable("new", group("new", phase="Pending"), waiting("big", 99))


def test_what_is_enqueued_counts_for_the_next() -> None:
    ssn, _ = opened(
        CONF.format(factor=1), node("n1", 10), queue("default"), waiting("a", 6), waiting("b", 6)
    )
    assert voting.job_enqueueable(ssn, job(ssn, "a"), "a")
    voting.job_enqueued(ssn, job(ssn, "a"))
    assert not voting.job_enqueueable(ssn, job(ssn, "b"), "b")
    assert ssn.events == [(job(ssn, "b"), "Unschedulable", "resource in cluster is overused")]


@pytest.mark.parametrize("resource", ["memory", "nvidia.com/gpu"])
def test_only_what_is_asked_for_is_compared(resource: str) -> None:
    asked = group("new", phase="Pending", minResources={resource: "1"})
    assert enqueueable("new", asked) == (resource == "memory")

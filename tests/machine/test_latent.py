"""Latent races: orders of steps that lead to them, as the pages in docs/corpus tell them.

The states of the cache are those that the code of v1.15.1 itself came to in the same order.
"""

from __future__ import annotations

import pytest
from walked_machines import WalkedMachine, of_corpus

from plinian.engine.cache.cache import SchedulerCache
from plinian.engine.machine.checks import violations_in
from plinian.engine.machine.scheduler import SchedulerComponent

NEWEST = "v1.15.1"
FIRST, SECOND, OTHER = "pod-default-a-1", "pod-default-a-2", "pod-default-c-1"


def cache_of(run: WalkedMachine) -> SchedulerCache:
    """Return the scheduler's cache as it is now."""
    scheduler = run.component("scheduler")
    assert isinstance(scheduler, SchedulerComponent)
    return scheduler.projector.cache


def node(run: WalkedMachine, name: str = "n1") -> tuple[float, list[tuple[str, str]]]:
    """Return a node's idle millicores in the cache, and its tasks: uid and status."""
    info = cache_of(run).nodes[name]
    tasks = sorted((one.task.uid, one.status.name) for one in info.tasks.values())
    return info.idle.get("cpu"), tasks


def job(run: WalkedMachine, key: str = "default/g") -> tuple[float, float, list[tuple[str, str]]]:
    """Return what a job requests and has allocated, in millicores, and its tasks by status.

    A task that is in the index of two statuses is there twice.
    """
    held = cache_of(run).jobs[key]
    tasks = [(uid, status.name) for status, those in held.index.items() for uid in those]
    return held.total_request.get("cpu"), held.allocated.get("cpu"), sorted(tasks)


def deliver(run: WalkedMachine, step: str) -> None:
    """Let an informer deliver all that waits."""
    while step in run.can():
        run.make(step)


def invariants(run: WalkedMachine) -> set[str]:
    """Return the ids of the invariants that are violated when nothing more happens."""
    return {one.invariant for one in violations_in(run.machine)(run.rest())}


def resync(run: WalkedMachine) -> None:
    """Let the worker read a refused task again; before v1.14.0 it waits for some milliseconds."""
    if "scheduler takes from errTasks" not in run.can():
        run.make("wait")
    run.make("scheduler takes from errTasks", "scheduler finishes with errTasks")


def refused_binding(release: str) -> WalkedMachine:
    """Return a run in which the binding of the first pod was refused, and the second one read."""
    run = of_corpus("l1-refused-binding", release)
    run.make("user acts", "scheduler sees Pod", "scheduler session")
    run.make("user acts", "user acts", "scheduler binds")
    assert node(run) == (0, [(FIRST, "BINDING")])
    resync(run)
    assert node(run) == (8000, [])
    assert job(run) == (8000, 0, [(SECOND, "PENDING")])
    return run


@pytest.mark.parametrize("release", ["v1.8.0", "v1.12.1", "v1.13.3", NEWEST])
def test_a_pod_that_was_read_after_a_refused_binding_counts_twice(release: str) -> None:
    run = refused_binding(release)
    assert invariants(run) == {"I-06"}
    assert job(run) == (16000, 8000, [(SECOND, "RUNNING")])


def test_a_pod_that_was_read_after_a_refused_binding_is_placed_twice_and_vanishes() -> None:
    run = refused_binding(NEWEST)
    run.make("scheduler session", "scheduler sees Pod", "scheduler sees Pod")
    assert job(run) == (16000, 8000, [(SECOND, "BINDING"), (SECOND, "PENDING")])
    run.make("scheduler session")
    assert node(run) == (0, [(SECOND, "BINDING")])
    assert node(run, "n2") == (0, [(SECOND, "BINDING")])
    assert job(run) == (16000, 16000, [(SECOND, "BINDING")])
    run.make("scheduler binds")
    run.make("scheduler takes from errTasks", "scheduler finishes with errTasks")
    assert job(run) == (8000, 8000, []), "the pod is bound, and its job does not have it"
    assert node(run) == (0, [(SECOND, "BINDING")])
    run.make("scheduler sees Pod")
    assert job(run) == (8000, 8000, []), "its next version does not bring it back"
    assert invariants(run) == {"I-06"}
    assert job(run) == (16000, 16000, [(SECOND, "RUNNING")])


@pytest.mark.parametrize("release", ["v1.8.2", "v1.12.1", NEWEST])
def test_the_deletion_of_a_pod_removes_the_next_one_of_its_name_from_the_node(
    release: str,
) -> None:
    run = of_corpus("l1-refused-eviction", release)
    run.make("user acts", "user acts", "scheduler sees PodGroup", "scheduler sees Pod")
    run.make("user acts")
    deliver(run, "kubelets sees Pod")
    run.make("wait", "kubelets end default/a", "user acts", "scheduler session")
    assert node(run) == (0, [(FIRST, "RELEASING")])
    resync(run)
    run.make("user acts")
    assert job(run) == (8000, 0, [(SECOND, "PENDING")])
    deliver(run, "scheduler sees PodGroup")
    run.make("scheduler session", "scheduler binds")
    deliver(run, "kubelets sees Pod")
    run.make("kubelets start default/a")
    assert node(run) == (0, [(SECOND, "BINDING")])
    run.make("scheduler sees Pod")
    assert node(run) == (0, [(FIRST, "RELEASING")])
    run.make("scheduler sees Pod")
    assert node(run) == (8000, []), "the second pod runs there, and takes all 8 CPUs"
    run.make("user acts")
    deliver(run, "scheduler sees PodGroup")
    run.make("scheduler session")
    assert node(run) == (0, [(OTHER, "BINDING")])
    found = invariants(run)
    assert {"I-05c", "I-06"} <= found
    assert node(run) == (-8000, [(SECOND, "RUNNING"), (OTHER, "RUNNING")])
    assert job(run) == (16000, 16000, [(SECOND, "BINDING"), (SECOND, "RUNNING")])


def test_a_node_without_a_node_object_stays_in_the_cache() -> None:
    run = of_corpus("l6-node-without-a-node", NEWEST)
    run.make("user acts", "scheduler sees Pod")
    assert node(run, "ghost") == (0, [("pod-default-a-1", "BOUND")])
    run.make("user acts")
    run.rest()
    assert node(run, "ghost") == (0, [])
    assert {*cache_of(run).snapshot().nodes.names} == {"n1"}, "no session sees it"


@pytest.mark.parametrize("release", ["v1.8.2", "v1.12.1", NEWEST])
def test_a_node_that_goes_and_comes_back_is_empty(release: str) -> None:
    run = of_corpus("b04-node-flaps", release)
    for there in (False, True):
        run.make("user acts", "scheduler sees Node")
        deliver(run, "scheduler takes from nodeQueue")
        assert ("n1" in cache_of(run).nodes) is there
    assert node(run) == (8000, [])
    run.make("user acts", "scheduler sees Pod", "scheduler session")
    assert node(run) == (0, [("pod-default-b-1", "BINDING")])
    assert {"I-03", "I-06"} <= invariants(run)


def test_a_node_worker_that_is_late_keeps_the_pods() -> None:
    run = of_corpus("b04-node-flaps", NEWEST)
    run.make("user acts", "user acts", "scheduler sees Node", "scheduler sees Node")
    run.make("scheduler takes from nodeQueue")
    assert node(run) == (0, [("pod-default-a-1", "RUNNING")])


def scale_at_once(run: WalkedMachine) -> None:
    """Scale to 0 and back; the Deployment's controller writes both.

    The ReplicaSet controller looks only when the ReplicaSet has 1 replica again, so the pod stays.
    """
    run.make("user acts")
    run.rest()
    for _ in range(2):
        run.make("user acts", "deployments sees Deployment")
        deliver(run, "deployments sees ReplicaSet")
        run.make("deployments deployment")


@pytest.mark.parametrize(
    ("release", "violated"),
    [
        ("v1.8.2", True),
        ("v1.9.0", True),
        ("v1.9.1", False),
        ("v1.12.2", False),
        ("v1.12.3", True),
        ("v1.13.0", False),
        ("v1.13.1", True),
        ("v1.14.0", True),
        (NEWEST, True),
        ("hardened", False),
    ],
)
def test_a_pod_that_names_its_podgroup_gets_no_new_one(release: str, *, violated: bool) -> None:
    run = of_corpus("n02-scaled-to-0-and-back", release)
    scale_at_once(run)
    assert invariants(run) == ({"I-04"} if violated else set())


@pytest.mark.parametrize("release", ["v1.8.2", "v1.9.1", "v1.12.1", "v1.13.0", NEWEST, "hardened"])
def test_a_podgroup_whose_deletion_is_not_seen_yet_is_not_created_again(release: str) -> None:
    run = of_corpus("n03-late-podgroup-deletion", release)
    scale_at_once(run)
    run.make("podgroups sees ReplicaSet", "podgroups sees ReplicaSet")
    run.rest()
    run.make("user acts")
    violated = invariants(run)
    assert violated == ({"I-04"} if release != "hardened" else set())
    (pod,) = (document for place, document in run.objects() if place.kind == "Pod")
    assert bool(violated) is ("nodeName" not in pod["spec"]), "the node is free"


@pytest.mark.parametrize("release", ["v1.8.0", "v1.8.2", NEWEST])
def test_nothing_is_wrong_with_a_pod_that_is_bound_and_runs(release: str) -> None:
    run = of_corpus("l6-node-without-a-node", release)
    assert not invariants(run)
    run = of_corpus("n02-scaled-to-0-and-back", release)
    run.make("user acts")
    assert not invariants(run)

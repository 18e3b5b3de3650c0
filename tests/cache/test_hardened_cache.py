"""Our own release's cache: pods that count, nodes that come back, and deletions that come late."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenarios import scenario

from plinian.engine.cache.cache import SchedulerCache
from plinian.engine.kubernetes import objects
from plinian.engine.model.panic import Panic
from plinian.engine.model.resource import Resource
from plinian.engine.model.subtraction import rest, take
from plinian.engine.model.task_status import COMPLETED_STATUS, TaskStatus, status_of
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.simulation import Simulation
from sessions import Document, group, node, pod

GPU = "nvidia.com/gpu"
AMOUNTS = st.builds(
    Resource,
    st.integers(-5, 5).map(float),
    st.integers(-5, 5).map(float),
    st.none() | st.dictionaries(st.sampled_from(("gpu", "pods")), st.integers(-5, 5).map(float)),
)


def cache_of(release: str, *documents: Document) -> SchedulerCache:
    """Return a release's cache to which these were delivered, its workers at rest."""
    cache = SchedulerCache(resolve(release))
    for each in documents:
        deliver(cache, each)
    return cache


def deliver(cache: SchedulerCache, document: Document) -> None:
    cache.deliver(document["kind"], decoded(document))
    cache.run_workers()


def delete(cache: SchedulerCache, document: Document) -> None:
    cache.deliver_deletion(document["kind"], decoded(document))
    cache.run_workers()


def decoded(document: Document) -> Any:
    return objects.decode(objects.KINDS[document["kind"]], document)


def foreign(name: str, cpu: float, on: str) -> Document:
    """Return a pod that another scheduler bound."""
    made = pod(name, "", cpu, on=on)
    made["spec"]["schedulerName"] = "default-scheduler"
    made["metadata"]["annotations"] = {}
    return made


def of(document: Document, **metadata: Any) -> Document:
    """Return the same object with other metadata."""
    return {**document, "metadata": {**document["metadata"], **metadata}}


def binding(release: str) -> SchedulerCache:
    """Return a cache in which a pod is being bound to a node that another scheduler then fills."""
    cache = cache_of(release, node("n1", 4), group("g"), pod("ours", "g", 3))
    assert cache.add_bind_task("ns/g", "uid-ours", "n1") is None
    deliver(cache, foreign("theirs", 3, "n1"))
    return cache


def test_pods_being_bound_count_though_another_scheduler_took_the_room() -> None:
    """The session's view begins with whoever came first: here the pod that is being bound."""
    cache = binding("hardened")
    told = cache.snapshot().nodes
    assert told.used[0, 0] == 6000
    assert (told.idle[0, 0], told.overfull().tolist()) == (0, [True])


def test_that_holds_too_where_the_other_pod_comes_first_by_the_map() -> None:
    """Without the remedy a pod of 3 cpu is not seen on a node of 4, and 1 cpu seems to be free."""
    for release, used, idle in (("v1.15.1", 3000, 1000), ("hardened", 6000, 0)):
        cache = binding(release)
        tasks = cache.nodes["n1"].tasks
        tasks["ns/ours"] = tasks.pop("ns/ours")
        deliver(cache, node("n1", 4))
        told = cache.snapshot().nodes
        assert (told.used[0, 0], told.idle[0, 0]) == (used, idle), release


def test_nothing_is_bound_to_a_node_that_is_out_of_sync() -> None:
    """GPUs vanished between the snapshot and the binding of a pod that asks for none."""
    for release in ("v1.15.1", "hardened"):
        cache = cache_of(release, node("n1", 4, more={GPU: "1"}))
        deliver(cache, pod("held", "", 1, on="n1", requests={GPU: "1"}))
        for each in (group("g"), pod("late", "g", 1), node("n1", 4)):
            deliver(cache, each)
        error = cache.add_bind_task("ns/g", "uid-late", "n1")
        refused = "node n1 is out of sync in [nvidia.com/gpu]"
        assert error == (refused if release == "hardened" else None)
        assert cache.nodes["n1"].skipped is (release == "hardened")


def test_a_node_that_comes_back_has_its_pods() -> None:
    for release, used in (("v1.15.1", 0), ("hardened", 5000)):
        cache = cache_of(release, node("n1", 8), group("g"), pod("ours", "g", 2, on="n1"))
        deliver(cache, foreign("theirs", 3, "n1"))
        delete(cache, node("n1", 8))
        assert len(cache.snapshot().nodes) == 0
        deliver(cache, node("n1", 8))
        assert cache.snapshot().nodes.used[0, 0] == used, release


def test_pods_that_go_while_their_node_is_away_are_not_on_it_when_it_returns() -> None:
    held = pod("ours", "g", 2, on="n1")
    cache = cache_of("hardened", node("n1", 8), group("g"), held)
    delete(cache, node("n1", 8))
    delete(cache, held)
    deliver(cache, node("n1", 8))
    assert cache.nodes["n1"].tasks == {}
    assert cache.snapshot().nodes.idle[0, 0] == 8000


def test_a_node_without_pods_is_forgotten_when_it_goes() -> None:
    cache = cache_of("hardened", node("n1", 8))
    delete(cache, node("n1", 8))
    assert cache.nodes == {}


@settings(max_examples=60, derandomize=True)
@given(st.integers(0, 2**32))
def test_every_pod_on_a_node_is_on_its_account(seed: int) -> None:
    """What the pods that were delivered say is what nodes believe, whatever went and came back."""
    case = scenario(seed)
    if case.options.no_feedback:
        return
    for session in Simulation(case, resolve("hardened")).sessions():
        if session.result.panic is None:
            assert _conserved(session.cache) == []


def _conserved(cache: SchedulerCache) -> list[str]:
    pods = cache.stores.of("Pod").values()
    found = []
    for name, info in cache.nodes.items():
        told = {key for key, placed in info.tasks.items() if placed.status != TaskStatus.BINDING}
        true = {
            each.key
            for each in pods
            if each.spec.node_name == name
            and status_of(each) not in COMPLETED_STATUS
            and cache.job_cache.handles(each)
        }
        if info.node is not None and told != true:
            found.append(f"{name}: {sorted(told ^ true)}")
    return found


def test_a_late_deletion_leaves_the_new_podgroup_alone() -> None:
    old, new = of(group("g"), uid="old"), of(group("g"), uid="new")
    for release, kept in (("v1.15.1", False), ("hardened", True)):
        cache = cache_of(release, new, pod("p", "g"))
        cache.job_cache.pod_group_deleted(decoded(old))
        assert (cache.jobs["ns/g"].pod_group is not None) is kept, release


def test_a_deletion_older_than_what_is_there_is_late_too() -> None:
    cache = cache_of("hardened", of(group("g"), resourceVersion="9"), pod("p", "g"))
    cache.job_cache.pod_group_deleted(decoded(of(group("g"), resourceVersion="8")))
    assert cache.jobs["ns/g"].pod_group is not None
    cache.job_cache.pod_group_deleted(decoded(of(group("g"), resourceVersion="10")))
    assert cache.jobs["ns/g"].pod_group is None


def test_a_stale_job_in_the_queue_is_forgotten_and_takes_nothing() -> None:
    old, new = of(group("g"), uid="old"), of(group("g"), uid="new")
    cache = cache_of("hardened", old)
    jobs = cache.job_cache
    jobs.pod_group_deleted(decoded(old))
    stale = jobs.deleted_jobs.take()
    del jobs.infos["ns/g"]
    jobs.pod_group_set(decoded(new))
    jobs.finish_clean_up(stale)
    assert jobs.infos["ns/g"].uid == "new"
    assert (jobs.deleted_jobs.ready(), jobs.deleted_jobs.delayed()) == ([], [])


def test_a_pod_that_is_made_again_is_not_taken_for_the_one_that_is_gone() -> None:
    """The old pod's task is read again by name, and then the old pod's deletion comes."""
    old, new = of(pod("p-0", "g", on="n1"), uid="old"), of(pod("p-0", "g", on="n1"), uid="new")
    for release, requested in (("v1.15.1", 2000), ("hardened", 1000)):
        cache = cache_of(release, node("n1", 8), group("g"), old)
        jobs = cache.job_cache
        jobs.resync_task(jobs.infos["ns/g"].tasks["old"])
        jobs.error_tasks.fire_all()
        jobs.resync_next_task(lambda *_: decoded(new))
        delete(cache, old)
        deliver(cache, new)
        assert jobs.infos["ns/g"].total_request.cpu == requested, release
        assert list(cache.nodes["n1"].tasks) == ["ns/p-0"]


@given(AMOUNTS, AMOUNTS)
def test_what_there_is_enough_of_is_subtracted_as_ever(one: Resource, other: Resource) -> None:
    left = take(one.clone(), other)
    try:
        assert left == one.clone().sub(other)
    except Panic:
        assert min(left.cpu, left.memory, *(left.scalars or {}).values(), 0.0) >= 0


@given(AMOUNTS, AMOUNTS)
def test_a_rest_is_never_negative_and_has_no_new_names(one: Resource, other: Resource) -> None:
    before = one.clone()
    left = rest(one, other)
    assert one == before
    assert min(left.cpu, left.memory, *(left.scalars or {}).values(), 0.0) == 0
    assert (left.scalars is None) is (one.scalars is None)
    assert set(left.scalars or ()) == set(one.scalars or ())


def test_a_wrong_sum_of_a_job_does_not_kill() -> None:
    asks, gives = (pod(name, "g", requests={GPU: text}) for name, text in (("a", "2"), ("b", "-1")))
    for release in ("v1.15.1", "hardened"):
        cache = cache_of(release, group("g"), asks, gives)
        if release == "hardened":
            delete(cache, asks)
            assert cache.jobs["ns/g"].total_request.get(GPU) == 0
            continue
        with pytest.raises(Panic, match="resource is not sufficient"):
            delete(cache, asks)

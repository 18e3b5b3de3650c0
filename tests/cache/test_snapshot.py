"""A snapshot depends on what the cache holds, and not on how or when it came to that."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plinian.engine.cache.cache import SchedulerCache
from plinian.engine.cache.dirty_marks import DirtyMarks
from plinian.engine.cache.snapshot import Snapshot, SnapshotBuilder
from plinian.engine.kubernetes import objects
from plinian.engine.model.node import NodeInfo
from plinian.engine.model.session_tables import NO_JOB, NO_NODE
from plinian.engine.model.task_classes import TaskClasses
from plinian.engine.model.task_status import ALLOCATED_STATUS, TaskStatus
from plinian.engine.volcano.session.history import resolve
from sessions import RELEASE, Document, cache_of, document, group, node, pod, queue

NODES = ("n1", "n2", "n3")
PODS = ("p1", "p2", "p3", "p4", "p5")
GROUPS = ("g1", "g2")
QUEUES = ("default", "batch")
ACCOUNTS = ("allocatable", "idle", "used", "releasing", "pipelined")

amounts = st.fixed_dictionaries(
    {}, optional={"nvidia.com/gpu": st.sampled_from("1248"), "a.io/x": st.sampled_from("12")}
)


def _step(kind_of: str, /, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, Any]]:
    return st.tuples(st.just(kind_of), st.fixed_dictionaries(fields))


pods = _step(
    "pod",
    name=st.sampled_from(PODS),
    life=st.integers(0, 1),
    of=st.sampled_from((*GROUPS, "")),
    on=st.sampled_from(("", *NODES)),
    phase=st.sampled_from(("Pending", "Running", "Succeeded", "Failed", "Unknown")),
    cpu=st.integers(0, 3),
    more=amounts,
    leaving=st.booleans(),
)
steps = st.one_of(
    _step(
        "node",
        name=st.sampled_from(NODES),
        cpu=st.integers(1, 8),
        more=amounts,
        works=st.booleans(),
    ),
    pods,
    pods,
    pods,
    _step(
        "group",
        name=st.sampled_from(GROUPS),
        of=st.sampled_from((*QUEUES, "")),
        life=st.integers(0, 1),
    ),
    _step("queue", name=st.sampled_from(QUEUES)),
    _step(
        "class",
        name=st.sampled_from(("high", "low")),
        value=st.integers(0, 9),
        default=st.booleans(),
    ),
    _step("lose", kind=st.sampled_from(("Node", "Pod", "PodGroup", "Queue", "PriorityClass"))),
    _step("bind", name=st.sampled_from(PODS), host=st.sampled_from(NODES)),
    _step("evict", name=st.sampled_from(PODS)),
    _step("work"),
    _step("snapshot"),
    _step("snapshot"),
)
histories = st.lists(steps, min_size=10, max_size=60)

BEGIN = (
    ("queue", {"name": "default"}),
    *(("node", {"name": n, "cpu": 8, "more": {}, "works": True}) for n in ("n1", "n2")),
    ("group", {"name": "g1", "of": "default", "life": 0}),
    ("snapshot", {}),
)


class Player:
    """Plays steps on a cache."""

    def __init__(self) -> None:
        self.cache = SchedulerCache(resolve(RELEASE))
        self.taken: list[tuple[Snapshot, dict[str, Any]]] = []
        self._revision = 0
        self.play(BEGIN)

    def play(self, history: Sequence[tuple[str, Any]]) -> SchedulerCache:
        """Do step after step."""
        for name, fields in history:
            getattr(self, f"_{name}")(**fields)
        return self.cache

    def _see(self, each: Document) -> None:
        self._revision += 1
        each["metadata"]["resourceVersion"] = str(self._revision)
        self.cache.deliver(each["kind"], objects.decode(objects.KINDS[each["kind"]], each))

    def _node(self, *, name: str, cpu: int, more: dict[str, str], works: bool) -> None:
        self._see(node(name, cpu, more=more))
        if works:
            self.cache.run_workers()

    def _pod(
        self,
        *,
        name: str,
        life: int,
        of: str,
        on: str,
        phase: str,
        cpu: int,
        more: dict[str, str],
        leaving: bool,
    ) -> None:
        each = pod(name, of, cpu=cpu, on=on, requests=more, status={"phase": phase})
        each["metadata"]["uid"] = f"uid-{name}-{life}"
        if leaving:
            each["metadata"]["deletionTimestamp"] = "2025-11-21T15:00:00Z"
        before = self.cache.stores.get("Pod", f"ns/{name}")
        if before is not None and (before.uid != each["metadata"]["uid"] or before.spec.node_name):
            if before.uid == each["metadata"]["uid"] and before.spec.node_name == on:
                self._see(each)
                return
            self.cache.deliver_deletion("Pod", before)  # no pod changes its node
        self._see(each)

    def _group(self, name: str, of: str, life: int) -> None:
        each = group(name, queue=of, priorityClassName=("high", "low")[life])
        each["metadata"]["uid"] = f"uid-{name}-{life}"
        self._see(each)

    def _queue(self, name: str) -> None:
        self._see(queue(name))

    def _class(self, *, name: str, value: int, default: bool) -> None:
        self._see(document("PriorityClass", name, value=value, globalDefault=default))

    def _lose(self, kind: str) -> None:
        store = self.cache.stores.of(kind)
        if store:
            self.cache.deliver_deletion(kind, store[min(store)])

    def _bind(self, name: str, host: str) -> None:
        for job in list(self.cache.jobs.values()):
            for task in list(job.tasks.values()):
                if task.name == name and task.status == TaskStatus.PENDING:
                    self.cache.add_bind_task(job.key, task.uid, host)

    def _evict(self, name: str) -> None:
        for job in list(self.cache.jobs.values()):
            for task in list(job.tasks.values()):
                # Sessions only evict what runs on a node that they see.
                noted = self.cache.nodes.get(task.node_name, NodeInfo("")).tasks
                if task.name == name and task.key in noted and task.status == TaskStatus.RUNNING:
                    self.cache.evict(job.key, task.uid, "preempt")

    def _work(self) -> None:
        self.cache.run_workers()

    def _snapshot(self) -> None:
        taken = self.cache.snapshot()
        self.taken.append((taken, told(taken)))


def told(snapshot: Snapshot) -> dict[str, Any]:
    """Return all that a snapshot says, without the numbers of rows."""
    return {
        "nodes": {name: _node(snapshot, row) for row, name in enumerate(snapshot.nodes.names)},
        "jobs": {key: _job(snapshot, row) for row, key in enumerate(snapshot.jobs.keys)},
        "queues": list(snapshot.queues),
        "total": str(snapshot.total()),
    }


def _node(snapshot: Snapshot, row: int) -> dict[str, Any]:
    nodes = snapshot.nodes
    return {
        **{account: _amounts(snapshot, getattr(nodes, account)[row]) for account in ACCOUNTS},
        "tasks": {
            key: (_task(snapshot, held), TaskStatus(status))
            for key, (held, status) in nodes.tasks(row).items()
        },
        "rest": (nodes.row[nodes.names[row]], int(nodes.max_pods[row]), nodes.no_scalars[row]),
        "info": (nodes.info[row].name, nodes.info[row].labels),
    }


def _job(snapshot: Snapshot, row: int) -> dict[str, Any]:
    jobs = snapshot.jobs
    columns = (jobs.priority, jobs.min_available, jobs.best_effort, jobs.gated)
    return {
        "tasks": [_task(snapshot, held) for held in jobs.tasks[row]],
        "counts": jobs.counts[row].tolist(),
        "allocated": _amounts(snapshot, jobs.allocated[row]),
        "total": _amounts(snapshot, jobs.total_request[row]),
        "rest": (jobs.row[jobs.keys[row]], jobs.queue[row], jobs.phase[row]),
        "columns": [int(column[row]) for column in columns],
        "info": (jobs.info[row].uid, jobs.info[row].priority),
    }


def _task(snapshot: Snapshot, row: int) -> tuple[Any, ...]:
    tasks = snapshot.tasks
    on, of = int(tasks.node[row]), int(tasks.job[row])
    return (
        tasks.info[row].uid,
        TaskStatus(int(tasks.status[row])),
        "" if on == NO_NODE else snapshot.nodes.names[on],
        "" if of == NO_JOB else snapshot.jobs.keys[of],
        _amounts(snapshot, tasks.request[row]),
    )


def _amounts(snapshot: Snapshot, row: Any) -> dict[str, float]:
    pairs = zip(snapshot.dims, row.tolist(), strict=True)
    return {name: amount for name, amount in pairs if amount}


def anew(cache: SchedulerCache) -> Snapshot:
    """Return the snapshot that a builder makes which sees the cache for the first time."""
    changes = DirtyMarks()
    for name in cache.nodes:
        changes.node(name)
    for key in cache.jobs:
        changes.job(key)
    return SnapshotBuilder(changes, TaskClasses()).take(cache)


@settings(max_examples=120)
@given(histories)
def test_changes_lead_to_the_snapshot_that_a_first_look_gives(
    history: list[tuple[str, Any]],
) -> None:
    cache = Player().play(history)
    assert told(cache.snapshot()) == told(anew(cache))


@settings(max_examples=40)
@given(histories, histories)
def test_a_copy_goes_its_own_way(
    history: list[tuple[str, Any]], another: list[tuple[str, Any]]
) -> None:
    player = Player()
    cache = player.play(history)
    said = told(cache.snapshot())
    twin = cache.copy()
    player.play(another)
    assert told(twin.snapshot()) == said
    player.cache, went = twin, told(cache.snapshot())
    assert told(player.play(another).snapshot()) == went
    assert told(cache.snapshot()) == went


@settings(max_examples=60)
@given(histories)
def test_a_snapshot_stays_as_it_was_taken(history: list[tuple[str, Any]]) -> None:
    player = Player()
    player.play(history)
    player.play([("snapshot", {})])
    for taken, said in player.taken:
        assert told(taken) == said


@settings(max_examples=80)
@given(histories)
def test_accounts_are_the_sums_of_what_they_account_for(history: list[tuple[str, Any]]) -> None:
    cache = Player().play(history)
    for info in cache.nodes.values():
        if info.ready:
            noted = [(task.request.cpu, status) for task, status in info.tasks.values()]
            used = sum(cpu for cpu, status in noted if status != TaskStatus.PIPELINED)
            leaving = sum(cpu for cpu, status in noted if status == TaskStatus.RELEASING)
            assert (info.used.cpu, info.releasing.cpu) == (used, leaving)
            assert info.idle.cpu == info.allocatable.cpu - used
    for job in cache.jobs.values():
        tasks = job.tasks.values()
        assert job.total_request.cpu == sum(task.request.cpu for task in tasks)
        held = [task for task in tasks if task.status in ALLOCATED_STATUS]
        assert job.allocated.cpu == sum(task.request.cpu for task in held)
        assert {
            (status, uid) for status, with_status in job.index.items() for uid in with_status
        } == {(task.status, task.uid) for task in tasks}


def test_nothing_changed_is_the_same_snapshot() -> None:
    cache = cache_of(queue("default"), node("n1"), group("g"), pod("a", "g"))
    assert cache.snapshot() is cache.snapshot()


def test_rows_of_tasks_stay_and_are_given_out_again() -> None:
    cache = cache_of(queue("default"), node("n1"), group("g"), pod("a", "g"), pod("b", "g"))
    first = cache.snapshot()
    assert [task.name for task in first.tasks.info] == ["a", "b"]
    gone = objects.decode(objects.Pod, pod("a", "g"))
    cache.deliver_deletion("Pod", gone)
    second = cache.snapshot()
    assert second.jobs.tasks == [[1]]
    assert (second.tasks.job.tolist(), second.tasks.node.tolist()) == ([NO_JOB, 0], [NO_NODE] * 2)
    cache.deliver("Pod", objects.decode(objects.Pod, pod("c", "g")))
    third = cache.snapshot()
    assert [task.name for task in third.tasks.info] == ["c", "b"]
    assert [task.name for task in first.tasks.info] == ["a", "b"]
    assert third.jobs.tasks == [[1, 0]]


def test_resources_have_columns_in_one_order() -> None:
    cache = cache_of(queue("default"), group("g"), node("n1", more={"b.io/x": "1"}))
    assert cache.snapshot().dims == ("cpu", "memory", "pods", "b.io/x")
    cache.deliver("Pod", objects.decode(objects.Pod, pod("a", "g", requests={"a.io/x": "2"})))
    taken = cache.snapshot()
    assert taken.dims == ("cpu", "memory", "pods", "a.io/x", "b.io/x")
    assert taken.nodes.idle.tolist() == [[8000, 16 * 2**30, 110, 0, 1000]]
    assert taken.tasks.request.tolist() == [[1000, 0, 1, 2000, 0]]
    assert taken.total().scalars == {"pods": 110, "b.io/x": 1000}


def test_pods_without_a_visible_job_are_tasks_of_their_node() -> None:
    cache = cache_of(node("n1"), pod("a", "g", on="n1"), pod("b", "", on="n1"))
    taken = cache.snapshot()
    assert taken.tasks.job.tolist() == [NO_JOB] * 2
    assert taken.tasks.status.tolist() == [TaskStatus.RUNNING] * 2
    assert {key: status for key, (_, status) in taken.nodes.tasks(0).items()} == {
        "ns/a": TaskStatus.RUNNING,
        "ns/b": TaskStatus.RUNNING,
    }


def test_a_selector_of_single_pods_makes_classes_finer() -> None:
    label = "statefulset.kubernetes.io/pod-name"
    cache = cache_of(
        queue("default"),
        group("g"),
        pod("a", "g", labels={label: "a"}),
        pod("b", "g", labels={label: "b"}),
    )
    assert len(set(cache.snapshot().tasks.klass.tolist())) == 1
    service = document("Service", "s", "ns", spec={"selector": {label: "a"}})
    cache.deliver("Service", objects.decode(objects.Service, service))
    assert len(set(cache.snapshot().tasks.klass.tolist())) == 2


def test_a_session_s_copy_does_not_write_to_the_snapshot() -> None:
    cache = cache_of(queue("default"), node("n1"), group("g"), pod("a", "g", on="n1"))
    taken = cache.snapshot()
    said = told(taken)
    nodes, tasks = taken.nodes.copy(), taken.tasks.copy()
    nodes.idle -= 1
    tasks.status[:] = TaskStatus.RELEASING
    nodes.own_tasks(0).clear()
    assert told(taken) == said
    assert np.array_equal(taken.nodes.allocatable, nodes.allocatable)


def test_a_cache_with_its_snapshots_is_freed_as_soon_as_nobody_has_it() -> None:
    cache = cache_of(node("n1"), queue("default"), group("g1"), pod("p1", "g1", on="n1"))
    cache.snapshot()
    there = weakref.ref(cache)
    gc.disable()
    try:
        del cache
        assert there() is None
    finally:
        gc.enable()

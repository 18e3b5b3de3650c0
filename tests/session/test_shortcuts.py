"""What a session leaves out to be fast changes nothing: each shortcut against the long way."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plinian.engine.model.session_tables import TaskStatus
from plinian.engine.session.actions import eviction_details, preempt
from plinian.engine.session.framework import framework_orders as orders
from plinian.engine.session.framework.priority_queue import PriorityQueue
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.engine.session.nodes import class_columns
from plinian.engine.session.nodes.class_columns import ClassColumns
from plinian.engine.session.nodes.eviction_candidates import EvictionCandidates, PromisingNodes
from plinian.engine.session.nodes.node_selection import NodeSelection
from plinian.engine.session.plugins.drf import drf_plugin
from plinian.engine.session.session_run import SessionInput, run_session
from plinian.engine.volcano.conf import parse_scheduler_conf
from plinian.engine.volcano.session.history import resolve
from sessions import NOW, RELEASE, Document, cache_of, document, group, node, opened, pod, queue

SEEDS = st.integers(0, 2**32)
CONF = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
{gang}  - name: conformance
{tier}  - name: drf
{drf}  - name: predicates
  - name: {queues}
  - name: nodeorder
  - name: binpack
"""
OFF = "    enablePreemptable: false\n"


class Cluster:
    """A cluster with more nodes than are ever refreshed one by one, half of them in use."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        one = chance.choice
        self.conf = CONF.format(
            gang=one(("", OFF)),
            tier=one(("", "- plugins:\n")),
            drf=one(("", OFF)),
            queues=one(("proportion", "capacity")),
        )
        nodes = [f"n{number:02}" for number in range(chance.randint(18, 40))]
        queues = ["a", "b", "c"][: chance.randint(1, 3)]
        self.documents: list[Document] = [
            *(priority(name, value) for name, value in (("low", 1), ("high", 9))),
            *(node(name, cpu=one((4, 8)), memory=one(("8Gi", "16Gi"))) for name in nodes),
            *(queue(name, weight=one((1, 2)), reclaimable=True) for name in queues),
        ]
        for number in range(chance.randint(4, 16)):
            name, size, cpu = f"j{number:02}", one((1, 2, 3, 5, 8, 30)), one((1, 2, 3))
            runs, rank = one((True, False)), one(("low", "high"))
            self.documents.append(
                group(
                    name,
                    chance.randint(1, size),
                    "Running" if runs else one(("Pending", "Inqueue")),
                    queue=one(queues),
                    priorityClassName=rank,
                    **({"minResources": {"cpu": str(cpu * size)}} if one((True, False)) else {}),
                )
            )
            roles = one(((), ("w",), ("w", "m")))
            self.documents += [
                pod(
                    f"{name}-w-{index}",
                    name,
                    cpu=cpu if chance.random() < 0.9 else one((0, 9)),
                    on=one(nodes) if runs else "",
                    requests={"memory": one(("1Gi", "2Gi"))},
                    priority={"low": 1, "high": 9}[rank],
                    annotations={"volcano.sh/task-spec": one(roles)} if roles else {},
                )
                for index in range(size)
            ]

    def decide(self) -> SessionResult:
        """Run a session on the cluster as it was made."""
        behaviours = resolve(RELEASE)
        cache = cache_of(*self.documents)
        return run_session(
            SessionInput(
                snapshot=cache.snapshot(),
                conf=parse_scheduler_conf(self.conf, behaviours),
                behaviours=behaviours,
                now=NOW,
                process=ProcessState(),
                cache=cache,
            )
        )


def plain(result: SessionResult) -> dict[str, Any]:
    """Return all that a session did and wrote."""
    parts = msgspec.structs.asdict(result)
    panic = result.panic and (result.panic.message, result.panic.place)
    return {**parts, "panic": panic, "process": result.process.gauges}


def priority(name: str, value: int) -> Document:
    """Return a PriorityClass."""
    return {**document("PriorityClass", name), "value": value}


def no_quick_best(*_: Any) -> None:
    """Let nodes be found by filters and scores, in place of the ranking by class."""


def every_node(
    _candidates: EvictionCandidates, _point: str, _task: int, nodes: Any, _who: Any
) -> PromisingNodes:
    """Ask plugins about every node."""
    return PromisingNodes(nodes, np.ones(len(nodes), dtype=np.bool_))


def search_again(_search: Any, ssn: Session, task: int, **_: bool) -> tuple[int, object]:
    """Never know that a task finds no node."""
    return len(ssn.touched), ssn.jobs.fit_errors.get(task)


def compared_jobs(ssn: Session) -> PriorityQueue[int]:
    """Compare jobs each time."""
    return orders.changing_job_queue(ssn)


def compared_tasks(ssn: Session, tasks: list[int]) -> PriorityQueue[int]:
    """Compare tasks each time."""
    return PriorityQueue(partial(orders.task_order, ssn), tasks)


LONG_WAYS: tuple[tuple[object, str, object, int], ...] = (
    (NodeSelection, "quick_best", no_quick_best, 15),
    (class_columns, "_FEW", -1, 15),
    (class_columns, "_FEW", 10**9, 15),
    (EvictionCandidates, "could_help", every_node, 100),
    (preempt._Search, "begin", search_again, 30),
    (orders, "job_queue", compared_jobs, 15),
    (orders, "task_queue", compared_tasks, 15),
    (drf_plugin, "_MANY", 0, 60),
    (drf_plugin, "_MANY", 10**9, 60),
)
"""What is put in the place of what, and on how many clusters."""


@pytest.mark.slow
@pytest.mark.parametrize(("owner", "name", "long_way", "times"), LONG_WAYS)
def test_the_long_way_decides_the_same(
    owner: object, name: str, long_way: object, times: int
) -> None:
    @settings(max_examples=times, derandomize=True)
    @given(SEEDS)
    def compare(seed: int) -> None:
        cluster = Cluster(seed)
        short = cluster.decide()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, long_way)
            long = cluster.decide()
        assert plain(short) == plain(long)

    compare()


def test_the_shortcuts_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparisons above are of something: each shortcut is taken on some of the clusters."""
    taken: set[str] = set()

    def note(owner: Any, name: str, told: Callable[[Any], bool]) -> None:
        original = getattr(owner, name)

        def noting(*args: Any, **more: Any) -> Any:
            answer = original(*args, **more)
            if told(answer):
                taken.add(name)
            return answer

        monkeypatch.setattr(owner, name, noting)

    note(NodeSelection, "quick_best", lambda found: found is not None)
    note(ClassColumns, "_update", lambda _: True)
    note(ClassColumns, "_update_one", lambda _: True)
    note(EvictionCandidates, "_freed", lambda freed: freed.any())
    note(preempt._Search, "begin", lambda now: now is None)
    for seed in range(40):
        Cluster(seed).decide()
    assert taken == {"quick_best", "_update", "_update_one", "_freed", "begin"}


@settings(max_examples=30, derandomize=True)
@given(SEEDS)
def test_one_node_is_judged_as_many_are(seed: int) -> None:
    """The twins of every filter and score agree, on nodes in any state."""
    cluster = Cluster(seed)
    ssn, _ = opened(cluster.conf, *cluster.documents)
    rows, tasks = ssn.all_rows, range(len(ssn.tasks))
    for task in list(tasks)[:: max(1, len(ssn.tasks) // 5)]:
        for point in ("Predicate", "NodeOrder"):
            for _, entry in ssn.registry.flat(point):
                answer = entry.function(task, rows)
                many = np.zeros(len(rows)) if answer is None else answer
                assert [entry.one(task, row) for row in rows.tolist()] == many.tolist()


@settings(max_examples=60, derandomize=True)
@given(SEEDS)
def test_one_candidate_stands_for_a_job_of_which_none_can_be_chosen(seed: int) -> None:
    """An explained vote says of all candidates what asking about each of them says."""
    cluster = Cluster(seed)
    ssn, _ = opened(cluster.conf, *cluster.documents)
    where = EvictionCandidates(ssn).node
    candidates = np.flatnonzero(where >= 0).tolist()
    for task in np.flatnonzero(ssn.tasks.status == TaskStatus.PENDING).tolist():
        for point in ("Preemptable", "Reclaimable"):
            for plugin, entry in ssn.registry.flat(point):
                whole = msgspec.structs.replace(entry, may=None)
                asked = eviction_details._Candidates(ssn, np.array(candidates, dtype=np.int64))
                short = eviction_details._explained(ssn, entry, task, asked)
                assert short == eviction_details._explained(ssn, whole, task, asked), plugin


@settings(max_examples=30, derandomize=True)
@given(SEEDS)
def test_shares_of_many_candidates_are_those_of_each(seed: int) -> None:
    """To the last digit, and none where an account holds less than is taken off."""
    cluster = Cluster(seed)
    ssn, plugins = opened(cluster.conf, *cluster.documents)
    drf = plugins["drf"]
    candidates = np.flatnonzero(EvictionCandidates(ssn).node >= 0).tolist()
    if candidates:
        assert drf._shares_of_many(candidates) == list(drf._shares_left(candidates))
        assert drf._shares_of_many([*candidates, *candidates]) is None

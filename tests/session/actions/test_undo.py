"""What a statement did and took back never happened: to the session, and to its plugins."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from enum import Enum
from types import FunctionType, MethodType
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenarios import scenario

from plinian.engine.model.resource import Resource
from plinian.engine.model.session_tables import NO_JOB, NO_NODE, NodeTable, TaskStatus, TaskTable
from plinian.engine.session import session_run as run
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.statement import Statement
from plinian.engine.session.jobs.jobs import JobTable
from plinian.engine.session.nodes.node_selection import NodeSelection, Purpose
from plinian.engine.session.nodes.node_views import NodeViews
from plinian.engine.session.reasons.statuses import Reasons
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.simulation import simulate

RELEASE = resolve("v1.12.1")
SEEDS = st.integers(0, 2**32)
ELSEWHERE = (
    *(Session, NodeTable, TaskTable, JobTable),
    *(NodeSelection, Reasons, msgspec.Struct, type),
)
"""What is dumped by itself, what is made anew or only numbered, and what never changes."""
GROWING = frozenset(
    {
        *("Filters._touched", "Filters._kept", "NodeMap._touched", "NodeMap._errors"),
        *("NumaAware._version", "NumaAware._classes", "NumaAware._last"),
        *("TaskTopologyPlugin._jobs", "DeviceShare._virtual"),
    }
)
"""What grows with every operation, be it taken back or not, and what is remembered for so long.

The last two are as the original has them: task-topology does not hear of an allocation's end, and
virtual cards stay taken.
"""


class Dump:
    """All that can be reached from the plugins' event handlers, as data that can be compared."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """Return a value with all parts; one that was met before by its number."""
        if value is None or isinstance(value, bool | int | float | str | bytes | Enum):
            return value
        if isinstance(value, Resource):
            amounts = {"cpu": value.cpu, "memory": value.memory, **(value.scalars or {})}
            return {name: amount for name, amount in amounts.items() if amount}
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, ELSEWHERE) or id(value) in self._seen:
            return type(value).__name__
        self._seen[id(value)] = value
        if isinstance(value, MethodType):
            return self.of(value.__self__)
        if isinstance(value, FunctionType):
            return [self.of(cell.cell_contents) for cell in value.__closure__ or ()]
        if isinstance(value, Mapping):
            return sorted((repr(key), repr(self.of(item))) for key, item in value.items())
        if isinstance(value, set | frozenset):
            return sorted(map(repr, value))
        if isinstance(value, list | tuple):
            return [self.of(item) for item in value]
        kind = type(value).__name__
        names = [name for name in _attributes(value) if f"{kind}.{name}" not in GROWING]
        return {name: self.of(getattr(value, name)) for name in names}


def _attributes(value: Any) -> list[str]:
    slots = {name for base in type(value).__mro__ for name in getattr(base, "__slots__", ())}
    names = slots | {*getattr(value, "__dict__", {})}
    return sorted(name for name in names if hasattr(value, name))


def state(ssn: Session) -> dict[str, Any]:
    """Return everything that an operation may change."""
    nodes, tasks = ssn.nodes, ssn.tasks
    return {
        **{part: getattr(nodes, part).tolist() for part in ("idle", "used", "releasing")},
        "pipelined": nodes.pipelined.tolist(),
        "tasks of nodes": [dict(sorted(nodes.tasks(n).items())) for n in range(len(nodes))],
        "status": tasks.status.tolist(),
        "node": tasks.node.tolist(),
        "counts": [list(counts) for counts in ssn.jobs.counts],
        "phases": list(ssn.jobs.phase),
        "binds": list(ssn.binds),
        "evictions": list(ssn.evictions),
    }


def plugins(ssn: Session) -> Any:
    """Return what the plugins hold."""
    return Dump().of(ssn.registry.event_handlers)


def operate(ssn: Session, statement: Statement, chance: random.Random) -> None:
    """Place some tasks where filters let them, whatever there is of resources, and evict some."""
    in_job = ssn.tasks.job != NO_JOB
    waiting = np.flatnonzero((ssn.tasks.status == TaskStatus.PENDING) & in_job).tolist()
    running = np.flatnonzero((ssn.tasks.status == TaskStatus.RUNNING) & in_job).tolist()
    for task in chance.sample(waiting, min(len(waiting), 5)):
        node = _some_node(ssn, task, chance)
        if node == NO_NODE:
            continue
        place, undo = chance.choice(
            (
                (statement.allocate, statement.un_allocate),
                (statement.pipeline, statement.un_pipeline),
            )
        )
        if place(task, node) is not None:
            undo(task)
    for task in chance.sample(running, min(len(running), 3)):
        node = int(ssn.tasks.node[task])
        if (
            node != NO_NODE
            and ssn.nodes.tasks(node).get(ssn.task_name(task), (NO_NODE,))[0] == task
        ):
            assert statement.evict(task, "preempt") is None


def _some_node(ssn: Session, task: int, chance: random.Random) -> int:
    if voting.pre_predicate(ssn, task) is not None:
        return NO_NODE
    rows, _ = NodeViews(ssn).selection.predicate(task, ssn.all_rows, Purpose.BACKFILL, None)
    free = [row for row in rows.tolist() if ssn.task_name(task) not in ssn.nodes.tasks(row)]
    return chance.choice(free) if free else NO_NODE


def in_place_of_actions(seed: int, experiment: Callable[[Session], None]) -> None:
    """Run a scenario in whose sessions an experiment takes place, and nothing else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "run_actions", lambda ssn, _: experiment(ssn))
        simulate(scenario(seed, sound=True), RELEASE)


@settings(max_examples=40, derandomize=True)
@given(SEEDS)
def test_what_is_discarded_leaves_no_trace(seed: int) -> None:
    def experiment(ssn: Session) -> None:
        before = state(ssn)
        held = []
        for _ in range(2):  # plugins keep some answers from the first time on
            statement = Statement(ssn)
            operate(ssn, statement, random.Random(seed))
            statement.discard()
            held.append(plugins(ssn))
            after = state(ssn)
            for part, was in before.items():
                assert after[part] == was, part
        assert held[0] == held[1]

    in_place_of_actions(seed, experiment)


@settings(max_examples=20, derandomize=True)
@given(SEEDS)
def test_what_is_recovered_is_as_it_was_before_it_was_discarded(seed: int) -> None:
    def experiment(ssn: Session) -> None:
        first = Statement(ssn)  # plugins keep some answers from the first time on
        operate(ssn, first, random.Random(seed))
        first.discard()
        statement = Statement(ssn)
        operate(ssn, statement, random.Random(seed))
        saved, done, held = statement.save_operations(), state(ssn), plugins(ssn)
        statement.discard()
        again = Statement(ssn)
        assert again.recover_operations(saved) is None
        after = state(ssn)
        for part, was in done.items():
            assert after[part] == was, part
        assert plugins(ssn) == held
        assert again.save_operations() == saved

    in_place_of_actions(seed, experiment)


def test_an_operation_that_is_not_taken_back_leaves_traces() -> None:
    """The dumps see accounts, statuses and shares."""
    changed: set[str] = set()

    def experiment(ssn: Session) -> None:
        before, held = state(ssn), plugins(ssn)
        operate(ssn, Statement(ssn), random.Random(0))
        after = state(ssn)
        changed.update(part for part, was in before.items() if after[part] != was)
        changed.update(["plugins"] if plugins(ssn) != held else [])

    for seed in range(30):
        in_place_of_actions(seed, experiment)
    assert changed >= {"idle", "used", "releasing", "pipelined", "status", "counts", "plugins"}

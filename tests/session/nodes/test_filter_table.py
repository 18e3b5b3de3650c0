"""A trace that keeps the path of a pod has what each filter says of each node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer_worlds import NODES, Document, log_of

from plinian.engine.session.framework.trace import Trace
from plinian.engine.session.framework.vote_details import CheckState, FilterTable
from plinian.engine.session.nodes.filter_table import FILTERS
from plinian.engine.volcano.releases import RELEASES
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief.belief import belief_at
from plinian.replay.sessions.session_answer import scene_at, session_in
from sessions import group, node, pod, queue

EVERY = [str(release) for release in RELEASES if not release.ours]
PASSED, FAILED, NOT_REACHED = CheckState.PASSED, CheckState.FAILED, CheckState.NOT_REACHED
NAME = "ns/pg-0"


def traced(
    folder: Path, release: str, *documents: Document, paths: tuple[str, ...] = (NAME, "ns/pg")
) -> tuple[Trace, Any]:
    """Run the session about some objects with a trace that keeps a path."""
    with log_of(folder, NODES, *documents) as log:
        behaviours = resolve(release)
        trace = Trace(scores=False, closely=[NAME, "ns/pg"], fully=["ns/pg"], paths=paths)
        cache = belief_at(log.store, log.moment("end"), behaviours)
        answer = session_in(scene_at(log, "end"), behaviours, cache, into=trace)
    return trace, answer.result


def table_of(trace: Trace) -> FilterTable:
    """Return what allocate found."""
    found = trace.details["allocate", FILTERS, NAME]
    assert isinstance(found, FilterTable)
    return found


def cells(table: FilterTable, name: str) -> dict[str, CheckState]:
    """Return what the filters say of one node."""
    (row,) = [checked for checked in table.nodes if checked.miss.node == name]
    states = zip(table.filters, table.patterns[row.pattern], strict=True)
    return {named.name: cell.state for named, cell in states}


def tainted(name: str, cpu: float = 8) -> Document:
    """Return a node with a taint."""
    made = node(name, cpu)
    made["spec"] = {"taints": [{"key": "gpu", "value": "only", "effect": "NoSchedule"}]}
    return made


def cordoned(name: str, cpu: float = 8) -> Document:
    """Return a cordoned node."""
    made = node(name, cpu)
    made["spec"] = {"unschedulable": True}
    return made


WORLD = (
    *(node("small", 1), cordoned("shut"), tainted("apart"), cordoned("both", 1), queue("default")),
    group("pg", 1, "Inqueue"),
    pod("pg-0", "pg", 2),
)


@pytest.mark.parametrize("release", EVERY)
def test_the_first_filter_that_refuses_a_node_ends_the_others(tmp_path: Path, release: str) -> None:
    trace, result = traced(tmp_path, release, *WORLD)
    table = table_of(trace)
    assert result.binds == []
    small, shut, apart = (cells(table, name) for name in ("small", "shut", "apart"))
    assert small["Resources"] == FAILED
    assert set(small.values()) - {FAILED} == {NOT_REACHED}
    assert (shut["Resources"], shut["NodeUnschedulable"]) == (PASSED, FAILED)
    assert (shut["NodeAffinity"], shut["TaintToleration"]) == (NOT_REACHED, NOT_REACHED)
    assert (apart["NodeUnschedulable"], apart["NodeAffinity"]) == (PASSED, PASSED)
    assert apart["TaintToleration"] == FAILED
    assert cells(table, "both") == small


@pytest.mark.parametrize("release", EVERY)
def test_cells_that_fail_make_up_the_reasons_of_a_node(tmp_path: Path, release: str) -> None:
    table = table_of(traced(tmp_path, release, *WORLD)[0])
    for checked in table.nodes:
        said = {
            objection.message
            for cell in table.patterns[checked.pattern]
            if cell.state is FAILED
            for objection in cell.objections
        }
        assert said == {reason.message for reason in checked.reasons}


@pytest.mark.parametrize("release", ["v1.8.2", "v1.9.0", "v1.10.2", "v1.11.0", "v1.15.1"])
def test_a_host_port_in_use_is_compared_after_the_number_of_pods(
    tmp_path: Path, release: str
) -> None:
    full = node("full", 8)
    full["status"]["allocatable"]["pods"] = "1"
    wanting = pod("pg-0", "pg", 1)
    ports = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
    wanting["spec"]["containers"][0]["ports"] = ports
    holding = pod("old-0", "old", 1, "full")
    holding["spec"]["containers"][0]["ports"] = ports
    documents = (full, queue("default"), group("old", 1, "Running"), holding)
    trace, result = traced(tmp_path, release, *documents, group("pg", 1, "Inqueue"), wanting)
    assert result.binds == []
    found = table_of(trace)
    of_node = cells(found, "full")
    assert CheckState.NOT_KNOWN not in of_node.values()
    failed = {name for name, state in of_node.items() if state == FAILED}
    assert failed <= {"Resources", "PodNumber", "NodePorts"}
    assert failed


def test_scores_are_kept_of_the_nodes_that_were_scored(tmp_path: Path) -> None:
    nodes = (node("a", 8), node("b", 4), queue("default"))
    trace, result = traced(
        tmp_path, "v1.12.1", *nodes, group("pg", 1, "Inqueue"), pod("pg-0", "pg", 2)
    )
    scores: Any = trace.details["allocate", "scores", NAME]
    assert set(scores) == {"a", "b"}
    assert dict(result.binds)[NAME] == max(scores, key=scores.get)


def test_without_a_path_nothing_of_it_is_kept_and_the_session_decides_the_same(
    tmp_path: Path,
) -> None:
    with_path, result = traced(tmp_path, "v1.12.1", *WORLD)
    (tmp_path / "log.db").unlink()
    without, same = traced(tmp_path, "v1.12.1", *WORLD, paths=())
    kept = {"filters", "scores", "turn", "points"}
    assert kept.isdisjoint(what for _, what, _ in without.details)
    assert {"filters", "turn", "points"} <= {what for _, what, _ in with_path.details}
    assert result.fit_errors == same.fit_errors
    assert with_path.steps == without.steps

"""Nodes that are not ready, or hold more than they have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...engine.model.resource import MIN_RESOURCE
from ...engine.state.clock import UNDATED, TimeSpan
from ...engine.state.facts import NodeFact
from ...engine.state.truth_fold import Truth
from ...engine.state.truth_tables import NodeAmounts, node_table
from ..answers.amounts import apart, joined
from ..histories.name_life import Life
from ..logs.log import Log
from ..logs.moment_commands import MomentCommands
from ..moments.moment import Moment
from ..objects.kind_names import ObjectName, object_named
from .held_since import MOST_BLAMED, MOST_DATED, held_since, with_since
from .problems import MOST_NAMED, Problem, ProblemKind


def node_problems(
    log: Log, moment: Moment, truth: Truth, commands: MomentCommands
) -> Iterator[Problem]:
    """Yield that nodes are not ready, and each node that holds more than it has."""
    facts = {
        entry.reference.name: entry.fact
        for entry in truth.of("", "Node")
        if isinstance(entry.fact, NodeFact)
    }
    # Without the condition nothing says that a node is not ready, and sessions use it.
    unready = sorted(name for name, fact in facts.items() if fact.ready not in {"", "True"})
    if unready:
        problem = _unready(unready, facts, commands)
        yield with_since(problem, _since(log, moment, unready[0]))
    amounts = node_table(truth)
    over = np.flatnonzero(np.any(amounts.used - amounts.allocatable > MIN_RESOURCE, axis=1))
    for number, row in enumerate(over.tolist()):
        problem = _overfull(amounts, row, commands)
        asked = number < MOST_DATED and amounts.pods[row] <= MOST_BLAMED
        yield _dated(log, moment, amounts, row, problem) if asked else problem


def _unready(names: list[str], facts: dict[str, NodeFact], commands: MomentCommands) -> Problem:
    says = f"node {names[0]} is not ready (its condition Ready is {facts[names[0]].ready})"
    more = len(names) - 1
    return Problem(
        kind=ProblemKind.NODE,
        text=f"{says}, and {more} more" if more else says,
        objects=tuple(f"node/{name}" for name in names[:MOST_NAMED]),
        count=len(names),
        command=commands.of_log("history", f"node/{names[0]}"),
    )


def _since(log: Log, moment: Moment, name: str) -> TimeSpan:
    """Return since when a node is not ready; undated if the log never held it as ready."""
    life = Life(log.store, object_named(f"node/{name}"), namespace="", moment=moment)
    began, was_ready = UNDATED, False
    for step in life.steps():
        is_ready = step.state.status.startswith("Ready")
        if was_ready and not is_ready:
            began = step.when
        was_ready = is_ready
    return began


def _overfull(amounts: NodeAmounts, row: int, commands: MomentCommands) -> Problem:
    name = amounts.names[row]
    pairs = zip(amounts.resources, amounts.used[row], amounts.allocatable[row], strict=True)
    parts = joined(
        _pair(float(used), float(has), resource)
        for resource, used, has in pairs
        if used - has > MIN_RESOURCE
    )
    return Problem(
        kind=ProblemKind.NODE,
        text=f"pods on node {name} request more than it has: {parts}",
        objects=(f"node/{name}",),
        count=1,
        command=commands.of_moment("describe", f"node/{name}"),
    )


def _dated(log: Log, moment: Moment, amounts: NodeAmounts, row: int, problem: Problem) -> Problem:
    """Return a problem with the time since when the pods of today request more than there is."""
    node, least = (
        ObjectName("", "Node", amounts.names[row]),
        amounts.allocatable[row] + MIN_RESOURCE,
    )
    for resource, used, most in zip(amounts.resources, amounts.used[row], least, strict=True):
        if used > most and resource != "pods":
            since = held_since(log, moment, node, f"used.{resource}", float(most))
            return with_since(problem, since, at_least=True)
    return problem


def _pair(used: float, has: float, resource: str) -> str:
    one, other = apart(used, has, resource)
    return f"{one} of {other} {resource}"

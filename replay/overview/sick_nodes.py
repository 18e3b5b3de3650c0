"""Nodes that are not ready, or hold more than they have."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from ...engine.model.resource import MIN_RESOURCE
from ...engine.state.clock import UNDATED
from ...engine.state.facts import NodeFact
from ...engine.state.truth_fold import Truth
from ...engine.state.truth_tables import NodeAmounts, node_table
from ..answers.amounts import apart, joined
from ..histories.name_life import Life
from ..logs.log import Log
from ..logs.moment_commands import MomentCommands
from ..moments.moment import Moment
from ..moments.times import exact_text
from ..objects.kind_names import object_named
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
        yield msgspec.structs.replace(problem, since=_since(log, moment, unready[0]))
    amounts = node_table(truth)
    over = np.flatnonzero(np.any(amounts.used - amounts.allocatable > MIN_RESOURCE, axis=1))
    for row in over.tolist():
        yield _overfull(amounts, row, commands)


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


def _since(log: Log, moment: Moment, name: str) -> str:
    """Return since when a node is not ready; empty if the log never held it as ready."""
    life = Life(log.store, object_named(f"node/{name}"), namespace="", moment=moment)
    began, was_ready = UNDATED, False
    for step in life.steps():
        is_ready = step.state.status.startswith("Ready")
        if was_ready and not is_ready:
            began = step.when
        was_ready = is_ready
    return exact_text(began)


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


def _pair(used: float, has: float, resource: str) -> str:
    one, other = apart(used, has, resource)
    return f"{one} of {other} {resource}"

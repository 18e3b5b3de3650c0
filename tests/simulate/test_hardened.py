"""Our own release decides what the newest one does, but where a remedy has something to cure."""

from __future__ import annotations

from typing import Any

import pytest

from decisions import case_of, decided
from plinian.engine.volcano.session.behaviours import Behaviours
from plinian.engine.volcano.session.history import behaviours, resolve
from plinian.replay.simulate.simulation import simulate

NEWEST, HARDENED = resolve("v1.15.1"), resolve("hardened")
CURED = {
    "churn-1": "returning_nodes_keep_pods",
    "churn-2": "returning_nodes_keep_pods",
    "mixed-0": "returning_nodes_keep_pods",
    "mixed-1": "returning_nodes_keep_pods",
}
"""What is decided otherwise, and the remedy that alone makes the difference: a Node goes and
comes back while pods are on it."""


def decisions(name: str, release: Behaviours) -> list[Any]:
    """Return what a release decides in each session of a recorded scenario."""
    return [
        (
            *(step[part] for part in ("panic", "binds", "evictions", "pipelined")),
            {key: group["phase"] for key, group in step["podgroups"].items()},
        )
        for step in simulate(case_of(name), release, scores=False)
    ]


@pytest.mark.parametrize("name", decided())
def test_nothing_else_is_decided_where_nothing_is_to_be_cured(name: str) -> None:
    newest = decisions(name, NEWEST)
    remedy = CURED.get(name)
    assert (decisions(name, HARDENED) != newest) is (remedy is not None)
    if remedy is not None:
        without = behaviours("hardened", **{remedy: getattr(NEWEST, remedy)})
        assert decisions(name, without) == newest

"""Gangs evict whom the real actions of v1.15.1 evicted, and go where they went."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import pytest

from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate

RECORDED = Path(__file__).parents[1] / "data" / "gang-evictions.jsonl.xz"
RELEASE = "v1.15.1"


@cache
def recorded() -> Mapping[str, dict[str, Any]]:
    """Return scenarios by name: ``case``, and what came of it."""
    rows = [json.loads(line) for line in lzma.decompress(RECORDED.read_bytes()).splitlines()]
    return MappingProxyType({row["name"]: row for row in rows})


def decisions(case: dict[str, Any], release: str = RELEASE) -> dict[str, Any]:
    """Return what a simulation decides on a scenario of one step."""
    (step,) = simulate(parse_case(msgspec.json.encode(case)), resolve(release))
    assert step["panic"] is None
    return {
        "binds": dict(step["binds"]),
        "evictions": sorted(f"{pod} {step['evict_reasons'][pod]}" for pod in step["evictions"]),
        "pipelined": dict(step["pipelined"]),
        "nominated": step["nominated"],
    }


@pytest.mark.parametrize("name", recorded())
def test_a_simulation_evicts_whom_the_release_evicted(name: str) -> None:
    assert decisions(recorded()[name]["case"]) == recorded()[name][RELEASE]


def test_what_is_recorded_is_worth_it() -> None:
    runs = [row[RELEASE] for row in recorded().values()]
    assert all(run["evictions"] for run in runs)
    assert all(any(run[what] for run in runs) for what in ("binds", "pipelined", "nominated"))
    reasons = {each.split()[1] for run in runs for each in run["evictions"]}
    assert {"gangpreempt", "gangreclaim"} <= reasons


def test_the_releases_before_do_not_know_the_actions() -> None:
    """They refuse the configuration: the built-in default has no action that evicts."""
    case = recorded()["gang-0"]["case"]
    assert not decisions(case, "v1.14.4")["evictions"]

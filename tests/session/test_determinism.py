"""The same input gives the same bytes: twice, with and without a trace, in any process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from scenarios import scenario

from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.simulation import simulate

RELEASE = resolve("v1.12.1")
SEEDS = st.integers(0, 2**32)
SOME = 40
PRINT_RESULTS = f"""
import json
from scenarios import scenario
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.simulation import simulate
for seed in range({SOME}):
    print(json.dumps(simulate(scenario(seed), resolve("v1.12.1"))))
"""


def text(steps: list[dict[str, Any]]) -> str:
    """Return results as they are written; what JSON has no form for is refused."""
    return json.dumps(steps, allow_nan=False)


@settings(max_examples=25, derandomize=True)
@given(SEEDS)
def test_a_scenario_gives_the_same_bytes_again(seed: int) -> None:
    case = scenario(seed)
    assert text(simulate(case, RELEASE)) == text(simulate(case, RELEASE))


@settings(max_examples=25, derandomize=True)
@given(SEEDS)
def test_a_trace_changes_no_decision(seed: int) -> None:
    case = scenario(seed)
    with_trace = simulate(case, RELEASE, scores=True)
    without = simulate(case, RELEASE, scores=False)
    assert text([{**step, "node_scores": {}} for step in with_trace]) == text(without)


def simulated(hash_seed: str) -> bytes:
    """Return what a process of its own makes of some scenarios."""
    ran = subprocess.run(
        [sys.executable, "-c", PRINT_RESULTS],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=Path(__file__).parents[1] / "support",
        check=True,
        capture_output=True,
    )
    return ran.stdout


def test_no_hash_changes_a_byte() -> None:
    """Neither do several processes; see the tests of the command."""
    one = simulated("12345")
    results = [json.loads(line) for line in one.splitlines()]
    assert len(results) == SOME
    assert any(step["binds"] for steps in results for step in steps)
    assert simulated("1") == one

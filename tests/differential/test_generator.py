"""Scenarios that combine features are the same for the same seed, and are run as any other."""

from __future__ import annotations

import json

import pytest

from differential.comparison import first_part
from differential.generator import scenario
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate


def test_a_seed_is_a_scenario() -> None:
    assert json.dumps(scenario(7)) == json.dumps(scenario(7))
    assert scenario(7) != scenario(8)


def test_clusters_are_of_the_promised_size() -> None:
    for seed in range(20):
        steps = scenario(seed)["steps"]
        nodes = [e for e in steps[0]["events"] if e["object"]["kind"] == "Node"]
        assert 20 <= len(nodes) <= 60
        assert 6 <= len(steps) <= 10


@pytest.mark.parametrize("release", ["v1.10.2", "v1.15.1"])
def test_sessions_run_to_the_end_on_them(release: str) -> None:
    case = parse_case(json.dumps(scenario(1)).encode())
    assert len(simulate(case, resolve(release), scores=False)) == len(case.steps)


def test_the_first_difference_is_told() -> None:
    same = {"binds": [["a/b", "n"]], "panic": None}
    assert first_part([same], [{**same}]) is None
    part = first_part([same, same], [same, {**same, "binds": []}])
    assert part is not None
    assert (part.step, part.fields) == (1, ("binds",))

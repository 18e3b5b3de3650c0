"""Simulations decide what the real scheduler decided, down to the texts of its messages."""

from __future__ import annotations

import json

import pytest

from decisions import case_of, decided, differences
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.simulation import simulate

RELEASE = "v1.12.1"
OTHERS = ("v1.8.2", "v1.9.0", "v1.10.0", "v1.11.0", "v1.13.0", "v1.14.4", "v1.15.1")


@pytest.mark.parametrize("name", decided())
def test_a_simulation_decides_what_was_decided_with_scores_and_without(name: str) -> None:
    """Sessions that keep scores look at every node; others find the best one faster."""
    case = case_of(name)
    with_scores = simulate(case, resolve(RELEASE))
    assert not differences(name, RELEASE, json.loads(json.dumps(with_scores)))
    without = simulate(case, resolve(RELEASE), scores=False)
    for one, other in zip(with_scores, without, strict=True):
        assert {**one, "node_scores": {}} == other


@pytest.mark.parametrize(
    ("name", "release"),
    [(name, release) for name, runs in decided().items() for release in OTHERS if release in runs],
)
def test_a_simulation_decides_what_other_releases_decided(name: str, release: str) -> None:
    steps = simulate(case_of(name), resolve(release), scores=True)
    assert not differences(name, release, json.loads(json.dumps(steps)))


def test_small_clusters_keep_scores() -> None:
    assert any(step["node_scores"] for step in simulate(case_of("basic-0"), resolve(RELEASE)))


def test_a_difference_would_be_found() -> None:
    steps = simulate(case_of("basic-0"), resolve(RELEASE))
    steps[0]["binds"] = steps[0]["binds"][::-1]
    assert len(differences("basic-0", RELEASE, steps)) == 1
    assert differences("basic-0", RELEASE, steps[:1])

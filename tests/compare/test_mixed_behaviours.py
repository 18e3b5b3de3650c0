"""A search for causes mixes behaviours of two releases: no mixture ends with an error of ours."""

from __future__ import annotations

import random

import pytest

from plinian.engine.volcano.releases import RELEASES
from plinian.engine.volcano.session.history import resolve
from plinian.replay.compare.causes import changed, partly
from plinian.replay.simulate.simulation import simulate
from proving import proving, recording

WORDS = ("subGroupPolicy", "networkTopology", "HyperNode")
"""Scenarios with these depend on behaviours that rest on each other."""

DIVIDED = sorted(
    (name, next(key for key in known if key.startswith("v")))
    for name, known in proving().items()
    if any(word in str(known["case"]) for word in WORDS)
)


@pytest.mark.parametrize(("name", "recorded"), DIVIDED)
def test_every_mixture_of_two_releases_runs(name: str, recorded: str) -> None:
    draw = random.Random(name)
    releases = [str(release) for release in RELEASES if not release.ours]
    case = recording(name, recorded).case
    for _ in range(12):
        before, after = sorted(draw.sample(range(len(releases)), 2))
        newer = resolve(releases[after])
        values = changed(resolve(releases[before]), newer)
        share = draw.random()
        mixed = [behaviour for behaviour in values if draw.random() < share]
        simulate(case, partly(newer, values, mixed))


def test_there_are_such_scenarios() -> None:
    assert len(DIVIDED) >= 10

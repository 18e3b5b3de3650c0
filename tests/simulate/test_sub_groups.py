"""Groups within jobs go where the real schedulers placed them."""

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

from decisions import differing_steps
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate

RECORDED = Path(__file__).parents[1] / "data" / "groups.jsonl.xz"
RELEASES = ("v1.14.0", "v1.14.4", "v1.15.1")


@cache
def recorded() -> Mapping[str, dict[str, Any]]:
    """Return scenarios by name: ``case``, and what came of its steps by release."""
    rows = [json.loads(line) for line in lzma.decompress(RECORDED.read_bytes()).splitlines()]
    return MappingProxyType({row["name"]: row for row in rows})


def simulated(name: str, release: str) -> list[dict[str, Any]]:
    """Return the steps of a scenario under a release."""
    case = parse_case(msgspec.json.encode(recorded()[name]["case"]))
    steps = simulate(case, resolve(release), scores=True)
    found: list[dict[str, Any]] = json.loads(json.dumps(steps))
    return found


def of(kind: str) -> list[tuple[str, str]]:
    """Return the recorded scenarios of a kind, with each release they were recorded under."""
    return [
        (name, release)
        for name, row in recorded().items()
        for release in RELEASES
        if name.startswith(kind) and release in row
    ]


@pytest.mark.parametrize(("name", "release"), of("partition"))
def test_groups_are_placed_as_in_the_tests_of_volcano(name: str, release: str) -> None:
    assert not differing_steps(name, recorded()[name][release]["steps"], simulated(name, release))


@pytest.mark.parametrize(("name", "release"), of("sub"))
def test_groups_are_placed_as_by_the_release(name: str, release: str) -> None:
    (step,) = simulated(name, release)
    (told,) = recorded()[name][release]["steps"]
    assert dict(step["binds"]) == told["binds"]
    assert dict(step["pipelined"]) == told["pipelined"]
    assert step["fit_errors"] == told["fit"]


def test_the_release_before_has_no_groups() -> None:
    """Then something else comes of most scenarios."""
    others = [
        name
        for name, release in of("sub")
        if release == "v1.15.1"
        and dict(simulated(name, "v1.13.3")[0]["binds"])
        != recorded()[name][release]["steps"][0]["binds"]
    ]
    assert len(others) > len(of("sub")) // 4

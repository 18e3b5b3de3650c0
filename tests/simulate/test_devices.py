"""Pods that claim devices, or parts of GPUs, go where the code of releases let them go."""

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

RECORDED = Path(__file__).parents[1] / "data" / "devices.jsonl.xz"


@cache
def recorded() -> Mapping[str, dict[str, Any]]:
    """Return scenarios by name: ``case``, and the steps of each release, in short form."""
    rows = [json.loads(line) for line in lzma.decompress(RECORDED.read_bytes()).splitlines()]
    return MappingProxyType({row["name"]: row for row in rows})


RUNS = [(name, release) for name, row in recorded().items() for release in row if "." in release]


@pytest.mark.parametrize(("name", "release"), RUNS)
def test_a_simulation_decides_as_the_release_did(name: str, release: str) -> None:
    row = recorded()[name]
    steps = simulate(parse_case(msgspec.json.encode(row["case"])), resolve(release))
    assert differing_steps(name, row[release], json.loads(json.dumps(steps))) == []


def test_what_is_recorded_is_worth_it() -> None:
    for family, reason in (
        ("devices", "cannot allocate all claims"),
        ("cards", "hami-vgpuDeviceSharing error"),
        ("quotas", ""),
    ):
        steps = [
            step
            for name, release in RUNS
            if name.startswith(family)
            for step in recorded()[name][release]
        ]
        assert sum("binds" in step for step in steps) > len(steps) / 3
        assert not reason or any(
            reason in text for s in steps for text in s.get("fit", {}).values()
        )

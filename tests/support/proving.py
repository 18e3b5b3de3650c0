"""Recorded outcomes that prove rows of the history, and how a simulation is held against them."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from decisions import decided, differing_steps
from plinian.engine.volcano.session.behaviours import Behaviours
from plinian.replay.simulate.scenario_cases import Case, parse_case
from plinian.replay.simulate.simulation import simulate

PROVING = Path(__file__).parents[1] / "data" / "proving.jsonl.xz"


class Recording(NamedTuple):
    """A scenario and what the real scheduler of a release did in its steps, in short form."""

    name: str
    release: str
    case: Case
    steps: list[dict[str, Any]]

    def differences(self, behaviours: Behaviours) -> list[str]:
        """Return where a simulation under these behaviours differs from what was recorded."""
        steps = simulate(self.case, behaviours)
        return differing_steps(self.name, self.steps, json.loads(json.dumps(steps)))


@cache
def proving() -> Mapping[str, dict[str, Any]]:
    """Return what proofs need beyond the recorded scenarios: ``case``, and results by release."""
    if not PROVING.exists():
        return MappingProxyType({})
    rows = [json.loads(line) for line in lzma.decompress(PROVING.read_bytes()).splitlines()]
    return MappingProxyType({row["name"]: row for row in rows})


def recording(name: str, release: str) -> Recording:
    """Return what a release was recorded to do with a scenario.

    :raises KeyError: that was not recorded, or is not kept here.
    """
    known = {**decided().get(name, {}), **proving().get(name, {})}
    case = parse_case(msgspec.json.encode(known["case"]))
    return Recording(name, release, case, known[release]["steps"])

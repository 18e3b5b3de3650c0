"""What real schedulers decided on scenarios, and how to hold a simulation's result against it."""

from __future__ import annotations

import json
import lzma
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from plinian.replay.simulate.scenario_cases import Case, parse_case

DECIDED = Path(__file__).parents[1] / "data" / "decided.jsonl.xz"

FIELDS = (
    *("panic", "panic_at", "restarted", "binds", "evictions", "pipelined", "phases", "counts"),
    *("why", "fit", "queues", "shares", "nominated", "out_of_sync", "node_scores"),
    *("gauges", "told", "errors", "root"),
)
"""What a recorded step may have; what it has not was empty, or was not looked at (``untold``)."""

NOT_ALWAYS_RECORDED = frozenset({"node_scores", "panic_at", "gauges", "told", "errors", "root"})


@cache
def decided() -> Mapping[str, dict[str, Any]]:
    """Return recorded scenarios by name: ``case``, and results by release."""
    rows = [json.loads(line) for line in lzma.decompress(DECIDED.read_bytes()).splitlines()]
    return MappingProxyType({row["name"]: row for row in rows})


def case_of(name: str) -> Case:
    """Return a recorded scenario."""
    return parse_case(msgspec.json.encode(decided()[name]["case"]))


def written(folder: Path, name: str) -> Path:
    """Write a recorded scenario."""
    path = folder / f"{name}.case.json"
    path.write_text(json.dumps(decided()[name]["case"]), "utf-8")
    return path


def short(step: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a step's result that is recorded, in the form in which it is."""
    groups = step["podgroups"]
    told = {
        key: [c for c in group["conditions"] if (c["type"], c["status"]) == UNSCHEDULABLE]
        for key, group in groups.items()
    }
    counts = {
        key: [group[field] for field in ("running", "succeeded", "failed")]
        for key, group in groups.items()
    }
    return {
        "panic": step["panic"],
        "panic_at": step.get("panic_at"),
        "restarted": step.get("restarted"),
        "binds": step["binds"],
        "evictions": [[pod, step["evict_reasons"][pod]] for pod in step["evictions"]],
        "pipelined": step["pipelined"],
        "phases": {key: group["phase"] for key, group in groups.items()},
        "counts": {key: numbers for key, numbers in counts.items() if any(numbers)},
        "why": {key: _why(conditions[-1]) for key, conditions in told.items() if conditions},
        "fit": step["fit_errors"],
        "queues": {name: _queue(queue) for name, queue in step["queues"].items()},
        "shares": {name: shares for name, of in step["metrics"].items() if (shares := _shares(of))},
        "nominated": step["nominated"],
        "out_of_sync": step["out_of_sync_nodes_after"],
        "node_scores": step["node_scores"],
        "gauges": step["metrics"],
        "told": step["pod_conditions"],
        "errors": step["errors"],
        "root": step["queues"].get("root", {}).get("spec_deserved"),
    }


UNSCHEDULABLE = ("Unschedulable", "True")


def _why(condition: dict[str, str]) -> str:
    text = f"{condition.get('reason', '')}: {condition.get('message', '')}"
    return text.partition(" Origin reason is ")[0]


def _queue(queue: dict[str, Any]) -> dict[str, Any]:
    allocated = {name: text for name, text in queue.get("allocated", {}).items() if text != "0"}
    return {"state": queue["state"], "allocated": allocated}


def _shares(gauges: dict[str, float]) -> dict[str, float]:
    return {
        name: value
        for name, value in gauges.items()
        if value and (name.startswith("deserved") or name in {"share", "overused"})
    }


def same(one: Any, other: Any) -> bool:
    """Say whether two values are the same; what is empty is the same as what is not there."""
    if isinstance(one, float | int) and isinstance(other, float | int):
        return one == other or math.isclose(one, other, rel_tol=1e-8, abs_tol=1e-6)
    if isinstance(one, dict) or isinstance(other, dict):
        one, other = one or {}, other or {}
        return all(same(one.get(key), other.get(key)) for key in one.keys() | other.keys())
    if isinstance(one, list) or isinstance(other, list):
        one, other = one or [], other or []
        return len(one) == len(other) and all(map(same, one, other))
    return bool((one or None) == (other or None))


def differences(name: str, release: str, steps: list[dict[str, Any]]) -> list[str]:
    """Return where a simulation parts from what was recorded; empty if nowhere."""
    return differing_steps(name, decided()[name][release]["steps"], steps)


def differing_steps(
    name: str, recorded: list[dict[str, Any]], steps: list[dict[str, Any]]
) -> list[str]:
    """Return where a simulation of the scenario of that name differs from a recorded outcome."""
    if len(recorded) != len(steps):
        return [f"{len(steps)} steps, recorded were {len(recorded)}"]
    found = []
    for number, (want, step) in enumerate(zip(recorded, steps, strict=True)):
        got = short(step)
        for field in FIELDS:
            if field in want.get("untold", ()):
                continue
            if field in NOT_ALWAYS_RECORDED and field not in want:
                continue
            if field == "fit" and name.startswith("nettopo"):
                continue  # which hypernode's failures are told is chance there
            if not same(want.get(field), got[field]):
                found.append(f"step {number}, {field}: {want.get(field)} but {got[field]}")
    return found

"""v1.12.0 and v1.12.1: what scores nodes needs ``predicates`` to have run once in the process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate

SCORES = """actions: "allocate"
tiers:
- plugins:
  - name: gang
  - name: nodeorder
"""
FILTERS = f"{SCORES}  - name: predicates\n"
SILENT = f"{FILTERS}    enablePredicate: false\n"


def made(kind: str, name: str, **parts: Any) -> dict[str, Any]:
    metadata = {"name": name, **parts.pop("metadata", {})}
    version = "scheduling.volcano.sh/v1beta1" if kind == "PodGroup" else "v1"
    head = {"apiVersion": version, "kind": kind, "metadata": metadata}
    return {"type": "ADDED", "object": {**head, **parts}}


def cluster(nodes: int) -> list[dict[str, Any]]:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    return [made("Node", f"n{i}", status={"allocatable": amounts}) for i in range(nodes)]


def waiting(name: str) -> list[dict[str, Any]]:
    """Return a gang of one pod."""
    spec = {
        "schedulerName": "volcano",
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
    }
    of = {"annotations": {"scheduling.k8s.io/group-name": name}}
    return [
        made("PodGroup", name, spec={"minMember": 1}, status={"phase": "Inqueue"}),
        made("Pod", f"{name}-0", metadata=of, spec=spec, status={"phase": "Pending"}),
    ]


def crashes(release: str, *confs: str, nodes: int = 2) -> list[bool]:
    """Return, by step, whether the scheduler crashes; each step brings one more pod."""
    steps = [
        {"conf": conf, "events": [*(() if number else cluster(nodes)), *waiting(f"g{number}")]}
        for number, conf in enumerate(confs)
    ]
    case = parse_case(json.dumps({"steps": steps}).encode())
    return [step["panic"] is not None for step in simulate(case, resolve(release))]


@pytest.mark.parametrize("release", ["v1.12.0", "v1.12.1"])
def test_the_first_score_crashes_a_process_that_never_filtered(release: str) -> None:
    assert crashes(release, SCORES, SCORES) == [True, True]
    assert crashes(release, SILENT) == [True]


def test_a_process_that_filtered_once_goes_on_without() -> None:
    assert crashes("v1.12.1", FILTERS, SCORES) == [False, False]


def test_after_a_crash_nothing_is_remembered() -> None:
    assert crashes("v1.12.1", SCORES, FILTERS, SCORES) == [True, False, False]


def test_a_single_node_is_not_scored() -> None:
    assert crashes("v1.12.1", SCORES, nodes=1) == [False]


@pytest.mark.parametrize("release", ["v1.8.0", "v1.11.2", "v1.12.2", "v1.13.0", "v1.15.1"])
def test_other_releases_score_without_filters(release: str) -> None:
    assert crashes(release, SCORES) == [False]

"""Busy nodes are filtered, idle ones preferred, and stale measurements ignored."""

from __future__ import annotations

import numpy as np
import pytest

from plinian.engine.session.framework.process_parts import ExternalValues, NodeUsage, ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.plugins.usage import CPU_EXCEEDS, MEMORY_EXCEEDS, read_thresholds
from sessions import NOW, RELEASE, group, node, opened, pod, queue

MINUTE = 60_000_000
CONF = """
actions: allocate
tiers:
- plugins:
  - name: usage
    arguments:
      usage.weight: 2
      cpu.weight: 3
      thresholds: {cpu: 70, mem: 60}
"""


def usage(cpu: float | None, memory: float | None, age: int = 0) -> NodeUsage:
    """Return what was measured some microseconds ago."""
    told = [{} if each is None else {"10m": each} for each in (cpu, memory)]
    return NodeUsage(NOW - age, *told)


def asked(
    *known: NodeUsage | None, release: str = RELEASE
) -> tuple[list[str], list[float], Session]:
    """Return the reasons and the scores of nodes n0, n1 …; an empty reason is none."""
    measured = {f"n{row}": each for row, each in enumerate(known) if each is not None}
    nodes = [node(f"n{row}") for row in range(len(known))]
    process = ProcessState(external=ExternalValues(node_usage=measured))
    ssn, _ = opened(
        CONF, *nodes, queue("default"), group("g"), pod("p", "g"), process=process, release=release
    )
    rows = np.arange(len(known))
    ((_, predicate),), ((_, order),) = (
        ssn.registry.flat("Predicate"),
        ssn.registry.flat("NodeOrder"),
    )
    reasons = [
        " ".join(one.message for one in ssn.reasons.objections(verdict))
        for verdict in predicate.function(0, rows)
    ]
    return reasons, order.function(0, rows).tolist(), ssn


def test_a_node_above_a_threshold_takes_nothing_more() -> None:
    reasons, _, ssn = asked(usage(70, 60), usage(70.1, 99), usage(10, 60.1), None)
    assert reasons == ["", CPU_EXCEEDS, MEMORY_EXCEEDS, ""]
    assert ssn.errors == []


@pytest.mark.parametrize("release", ["v1.8.2", "v1.9.1"])
def test_the_error_was_told_before_reasons_were(release: str) -> None:
    ((reason, _), _, _) = asked(usage(71, 0), None, release=release)
    assert reason == f"Plugin usage predicates failed, because of {CPU_EXCEEDS}"


def test_scores_are_the_weighted_mean_of_what_is_idle() -> None:
    _, scores, _ = asked(usage(20, 50), usage(100, 100), None)
    assert scores == [pytest.approx((0.8 * 3 + 0.5) / 4 * 200), 0, 0]


def test_measurements_count_for_five_minutes() -> None:
    reasons, scores, _ = asked(usage(90, 0, 5 * MINUTE), usage(90, 0, 5 * MINUTE + 1))
    assert reasons == [CPU_EXCEEDS, ""]
    assert scores[0] > 0
    assert scores[1] == 0


def test_what_was_not_measured_passes_and_makes_no_score() -> None:
    reasons, scores, _ = asked(usage(None, 50), usage(50, None))
    assert reasons == ["", ""]
    assert scores == [0, 0]


def test_that_nothing_was_recorded_is_said() -> None:
    _, _, ssn = asked(None)
    assert ssn.errors == ["usage: no usage of nodes was recorded; none is taken into account"]


@pytest.mark.parametrize(
    ("raw", "thresholds"),
    [
        ({"thresholds": {"cpu": 70}}, {"cpu": 70, "mem": 80}),
        ({"thresholds": {"cpu": 70.5, "mem": "60"}}, {"cpu": 0, "mem": 0}),
        ({"thresholds": {"memory": 60}}, {"cpu": 80, "mem": 80}),
    ],
)
def test_thresholds_are_whole_numbers(raw: dict[str, object], thresholds: dict[str, float]) -> None:
    assert read_thresholds(raw) == (thresholds, "")


@pytest.mark.parametrize("raw", [{}, {"thresholds": 80}])
def test_no_thresholds_are_an_error_and_80_percent(raw: dict[str, object]) -> None:
    thresholds, error = read_thresholds(raw)
    assert thresholds == {"cpu": 80, "mem": 80}
    assert error.startswith("Failed to ")

"""The fuller a node would be, the better."""

from __future__ import annotations

import numpy as np
import pytest

from sessions import group, node, opened, pod, queue, tasks

CARD = "nvidia.com/gpu"


def scores(arguments: str = "") -> dict[str, float]:
    """Return the scores of two half-empty nodes, of which b has cards, for a pod that wants one."""
    conf = "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: binpack\n"
    if arguments:
        conf += f"    arguments: {{{arguments}}}\n"
    ssn, _ = opened(
        conf,
        queue("default"),
        group("g"),
        node("a", cpu=4, memory="8Gi"),
        node("b", cpu=8, memory="8Gi", more={CARD: "4"}),
        pod("p", "g", cpu=2, on="a"),
        pod("q", "g", cpu=2, on="b", requests={CARD: "1"}),
        pod("r", "g", cpu=1, requests={"memory": "2Gi", CARD: "1"}),
    )
    (task,) = tasks(ssn, "r")
    entries = [entry for _, entry in ssn.registry.flat("NodeOrder")]
    if not entries:
        return {}
    rows = np.arange(2)
    together = entries[0].function(task, rows).tolist()
    assert together == [entries[0].one(task, row) for row in rows.tolist()]
    return dict(zip(ssn.nodes.names, together, strict=True))


def test_cpu_and_memory_count_the_same() -> None:
    """3 of 4 cores and 2 of 8 GiB are 75 % and 25 %; 3 of 8 cores are 37.5 %."""
    assert scores() == {"a": 50.0, "b": 31.25}


def test_resources_count_by_their_weights() -> None:
    """(3 × 0.375 + 1 × 0.25) / 4 × 100 × 2 for b."""
    assert scores("binpack.weight: 2, binpack.cpu: 3") == {"a": 125.0, "b": 68.75}


def test_further_resources_count_if_they_are_named() -> None:
    """Two of b's four cards would be used; a has none, which is no reason to score nothing."""
    named = f"binpack.resources: '{CARD}, example.com/none', binpack.resources.{CARD}: 2"
    assert scores(named) == {"a": 25.0, "b": (0.375 + 0.25 + 2 * 0.5) / 4 * 100}


def test_a_weight_of_nothing_still_divides() -> None:
    assert scores("binpack.cpu: 0") == {"a": 25.0, "b": 25.0}
    assert scores("binpack.cpu: 0, binpack.memory: 0") == {"a": 0.0, "b": 0.0}


@pytest.mark.parametrize("name", ["binpack.cpu", "binpack.memory"])
def test_a_negative_weight_of_a_resource_is_one(name: str) -> None:
    assert scores(f"{name}: -4") == scores()


def test_the_weight_of_the_plugin_may_be_negative_and_0_switches_it_off() -> None:
    assert scores("binpack.weight: -1") == {"a": -50.0, "b": -31.25}
    assert scores("binpack.weight: 0") == {}


def test_a_pod_that_does_not_fit_gives_nothing() -> None:
    ssn, _ = opened(
        "binpack",
        queue("default"),
        group("g"),
        node("a", cpu=4),
        pod("p", "g", cpu=3, on="a"),
        pod("q", "g", cpu=2, requests={"memory": "1Gi"}),
    )
    ((_, entry),) = ssn.registry.flat("NodeOrder")
    (task,) = tasks(ssn, "q")
    assert entry.one(task, 0) == 0.0
    assert entry.function(task, np.array([0, 0])).tolist() == [0.0, 0.0]

"""What nodes and queues held before and after, as cells of a table."""

from __future__ import annotations

import pytest

from plinian.replay.histories.diff import Holding, HoldingChanged
from plinian.replay.render.differences import holding_table


def held(cpu: float, of: float | None = 8000.0) -> Holding:
    """Return what a node with one pod holds."""
    return Holding(pods=1, used={"cpu": cpu}, allocatable={} if of is None else {"cpu": of})


@pytest.mark.parametrize(
    ("before", "after", "cells"),
    [
        (held(2000), held(4000), ["n1", "1", "2 → 4 of 8"]),
        (held(2000), held(2000), ["n1", "1", "2 of 8"]),
        (held(2000), None, ["n1", "1 → gone", "2 of 8 → gone"]),
        (held(2000, None), None, ["n1", "1 → gone", "2 → gone"]),
        (None, held(4000), ["n1", "<none> → 1", "<none> → 4 of 8"]),
        (held(2000), held(4000, 16000), ["n1", "1", "2 of 8 → 4 of 16"]),
        (held(2000), held(2000, 16000), ["n1", "1", "2 of 8 → 2 of 16"]),
    ],
)
def test_a_total_stands_beside_the_amounts_that_it_is_the_total_of(
    before: Holding | None, after: Holding | None, cells: list[str]
) -> None:
    table = holding_table("NODE", [HoldingChanged(name="n1", before=before, after=after)])
    assert table.rows == [cells]


def test_a_node_that_is_seen_for_the_first_time_may_have_held_something() -> None:
    one = HoldingChanged(name="n1", before=None, after=held(4000), first_seen=True)
    assert holding_table("NODE", [one]).rows == [["n1", "not known → 1", "not known → 4 of 8"]]


def test_a_column_has_one_unit() -> None:
    gi = 2.0**30
    sides = [
        Holding(pods=1, used={"cpu": cpu, "memory": memory}, allocatable={"memory": 32 * gi})
        for cpu, memory in ((6500.0, gi / 2), (8000.0, 20 * gi))
    ]
    table = holding_table("NODE", [HoldingChanged(name="n1", before=sides[0], after=sides[1])])
    assert table.rows == [["n1", "1", "6.5 → 8", "0.5Gi → 20Gi of 32Gi"]]

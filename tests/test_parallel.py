"""Work done by several processes comes back in order, and so do its errors."""

from __future__ import annotations

import pytest

from plinian.engine.errors import InputDamaged, LogCorrupt, PlinianError
from plinian.replay.parallel import run_all


def squared(number: int) -> int:
    """Return a square; what is negative is damaged."""
    if number < 0:
        raise LogCorrupt(f"{number} is negative", position=3, now="leave it out")
    return number * number


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_the_tasks(jobs: int) -> None:
    told: list[tuple[int, int]] = []
    found = list(run_all(squared, range(5), jobs=jobs, progress=lambda *at: told.append(at)))
    assert found == [0, 1, 4, 9, 16]
    assert told == [(done, 5) for done in range(1, 6)]
    assert list(run_all(squared, [], jobs=jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_keeps_what_it_says(jobs: int) -> None:
    results = run_all(squared, [2, -1, 3], jobs=jobs)
    assert next(results) == 4
    with pytest.raises(PlinianError) as caught:
        next(results)
    fault = caught.value
    assert (fault.what, fault.where, fault.now) == ("-1 is negative", "@3", "leave it out")
    assert not isinstance(fault, InputDamaged)

"""What still fits into a budget."""

from __future__ import annotations

import pytest

from plinian.replay import budget


class Clock:
    """A clock that moves by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_work_fits_until_the_longest_piece_would_not(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(budget, "monotonic", clock)
    fits = budget.within("10s")
    tried = []
    for seconds in (1.0, 4.0, 1.0, 0.5):
        tried.append(fits())
        clock.now += seconds
    assert tried == [True, True, True, False]  # 6 s have passed, and one piece took 4 s


def test_nothing_fits_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(budget, "monotonic", clock)
    fits = budget.within("1s")
    clock.now += 1.5
    assert not fits()

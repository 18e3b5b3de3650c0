"""A short run of the bit flips; ``python -m tests.campaign`` runs them for longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaign.bitflips import QUESTIONS, flip_bits, recorded_log

COUNT = 30


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded_log(tmp_path_factory.mktemp("bits"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_flipped_bit_is_found_or_changes_no_answer(
    original: Path, tmp_path: Path, seed: int
) -> None:
    found = flip_bits(original, tmp_path, QUESTIONS, seed=seed, count=COUNT, seconds=600)
    assert found.flipped == COUNT
    assert (found.wrong, found.fallen) == ((), ()), found.text
    assert found.refused + found.same == COUNT
    assert found.refused > COUNT // 10 < found.same


@pytest.mark.slow
def test_the_same_seed_flips_the_same_bits(original: Path, tmp_path: Path) -> None:
    runs = [
        flip_bits(original, tmp_path, QUESTIONS[-6:-5], seed=7, count=20, seconds=600)._replace(
            seconds=0
        )
        for _ in range(2)
    ]
    assert runs[0] == runs[1]

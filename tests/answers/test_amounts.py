"""Amounts as words: in the unit in which people count them."""

from __future__ import annotations

import pytest

from plinian.replay.answers.amounts import apart, word, words

VOLUMES = "attachable-volumes-csi-disks.io"


@pytest.mark.parametrize(
    ("amount", "name", "said"),
    [
        (1.0, VOLUMES, "1"),
        (40.0, VOLUMES, "40"),
        (2000.0, VOLUMES, "2000"),
        (0.0, VOLUMES, "0"),
        (2000.0, "nvidia.com/gpu", "2"),
        (1.0, "nvidia.com/gpu", "0.001"),
        (1500.0, "cpu", "1500m"),
    ],
)
def test_volumes_are_whole_numbers(amount: float, name: str, said: str) -> None:
    assert word(amount, name) == said


def test_volumes_are_so_in_lists_and_beside_others() -> None:
    assert words({VOLUMES: 3.0, "cpu": 1000.0}, [VOLUMES, "cpu"]) == f"1 cpu and 3 {VOLUMES}"
    assert apart(1.0, 2.0, VOLUMES) == ("1", "2")


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (9500.0, 9000.0, ("9.5", "9")),
        (500.0, 8000.0, ("0.5", "8")),
        (500.0, 2.0**64, ("0.5", "unlimited")),
        (500.0, 1500.0, ("500m", "1500m")),
        (-500.0, 2000.0, ("-0.5", "2")),
        (0.0, 250.0, ("0", "0.25")),
        (1000.4, 1000.0, ("1.0004", "1")),
    ],
)
def test_two_amounts_of_cpu_are_in_one_unit(
    one: float, other: float, said: tuple[str, str]
) -> None:
    assert apart(one, other, "cpu") == said

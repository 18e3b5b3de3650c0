"""Amounts of one column have one unit, so that they can be compared."""

from __future__ import annotations

import pytest

from plinian.engine.kubernetes.amount_texts import in_one_unit

GI = 1024.0**3


@pytest.mark.parametrize(
    ("resource", "amounts", "texts"),
    [
        ("cpu", (500, 378_400, 0, 8000), ("0.5", "378.4", "0", "8")),
        ("memory", (512 * 1024**2, 74 * GI, 0), ("0.5Gi", "74Gi", "0")),
        ("memory", (512 * 1024**2, 100 * 1024**2), ("512Mi", "100Mi")),
        ("ephemeral-storage", (500 * GI * 1000,), ("500Gi",)),
        ("nvidia.com/gpu", (4000, 1500), ("4", "1.5")),
        ("memory", (), ()),
    ],
)
def test_amounts_are_said_in_one_unit(
    resource: str, amounts: tuple[float, ...], texts: tuple[str, ...]
) -> None:
    said = in_one_unit(resource, amounts)
    assert tuple(map(said, amounts)) == texts

"""Differences between the scheduler's cache and the API server, as a table."""

from __future__ import annotations

from ..belief.logged_drift import Drift
from .tables import NONE, Table


def crash_texts(found: Drift) -> list[str]:
    """Return in sentences which panics the scheduler had by then."""
    return [
        f"The scheduler of {found.release} had panicked by then: {one}" for one in found.crashes
    ]


def drift_table(found: Drift) -> Table:
    """Return a row for each difference."""
    return Table(
        ("KIND", "NAME", "FIELD", "API SERVER", "CACHE", "SINCE"),
        [
            (
                one.kind,
                one.name or NONE,
                one.field or NONE,
                one.truth if one.truth is not None else NONE,
                one.belief if one.belief is not None else NONE,
                f"@{one.since}",
            )
            for one in found.differences
        ],
        keep=("NAME", "FIELD", "API SERVER", "CACHE"),
    )

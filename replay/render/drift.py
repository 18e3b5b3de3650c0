"""Differences between the scheduler's cache and the API server, as documents and tables."""

from __future__ import annotations

from typing import Any

from ..belief.drift import Drift
from ..moments.unknown import document_of
from .tables import NONE, Table


def drift_document(found: Drift) -> dict[str, Any]:
    """Return everything that differs; null if one side has no value."""
    return {
        "at": found.at,
        "release": found.release,
        "crashes": found.crashes,
        "differences": [
            {
                "kind": one.kind,
                "name": one.name,
                "field": one.field,
                "truth": one.truth,
                "belief": one.belief,
                "since": since,
            }
            for one, since in found.differences
        ],
        "not_known": list(map(document_of, found.not_known)),
    }


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
                f"@{since}",
            )
            for one, since in found.differences
        ],
        keep=("NAME", "FIELD", "API SERVER", "CACHE"),
    )

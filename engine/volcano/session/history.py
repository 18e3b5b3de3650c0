"""Which release of Volcano behaves how: the table of all dated changes.

Rows are in the order of their first releases on the main line. For a behaviour, the last row that a
release has is the one that holds.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any

from ..releases import RELEASES, PreRelease, Release, Row, history_of, parse_release
from .behaviours import Behaviours

SUPPORTED: tuple[Release, ...] = RELEASES
"""Releases whose rows are complete, and their sessions can be run: all."""

RECORDS_KEPT = 128
"""Records of releases that are kept: all releases, and some pre-releases."""

HISTORY: tuple[Row, ...] = history_of(Behaviours)
"""All rows, in the order in which they landed on the main line."""


def rows_of(release: Release | PreRelease) -> dict[str, Row]:
    """Return, by behaviour, the row that holds for a release."""
    return {row.behaviour: row for row in HISTORY if row.is_in(release)}


@lru_cache(maxsize=RECORDS_KEPT)
def record(release: Release | PreRelease) -> Behaviours:
    """Return the record that the table gives for a release."""
    values = {name: row.value for name, row in rows_of(release).items()}
    return Behaviours(release=str(release), **values)


def resolve(name: str) -> Behaviours:
    """Return how the release of that name behaves.

    :raises UsageError: there is no such release.
    """
    return record(parse_release(name))


def behaviours(name: str, **changed: Any) -> Behaviours:
    """Return how a release behaves with some fields changed, to find out their effect.

    :raises UsageError: as :func:`resolve`.
    :raises TypeError: there is no such field.
    """
    return dataclasses.replace(resolve(name), **changed)

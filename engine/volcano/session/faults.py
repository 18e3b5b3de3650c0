"""Behaviours by which a release starts what should wait, and the release without them."""

from __future__ import annotations

from collections.abc import Iterable

from ..releases import Row, parse_release
from .behaviours import Behaviours
from .history import HISTORY, behaviours, rows_of


def faults_of(release: str) -> dict[str, Row]:
    """Return, by behaviour, the rows of a release that say what it fails to check or to count.

    :raises UsageError: there is no such release.
    """
    rows = rows_of(parse_release(release))
    return {name: row for name, row in rows.items() if row.fault}


def mended(release: str, names: Iterable[str]) -> Behaviours:
    """Return how a release would behave without some of its faults.

    :param names: behaviours, as in :func:`faults_of`.
    :raises UsageError: there is no such release.
    """
    faults = faults_of(release)
    return behaviours(release, **{name: sound(faults[name]).value for name in names})


def sound(fault: Row) -> Row:
    """Return the row that mended a fault; if none did, the last one before it that had none.

    :raises LookupError: no release was ever without it.
    """
    rows = [row for row in HISTORY if row.behaviour == fault.behaviour]
    place = rows.index(fault)
    for row in (*rows[place + 1 :], *reversed(rows[:place])):
        if not row.fault:
            return row
    raise LookupError(f"no release has {fault.behaviour} without a fault")

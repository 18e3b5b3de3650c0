"""Releases of Volcano side by side: which behaviours each has, and in which two differ."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ..engine.volcano.history import SUPPORTED, Row, rows_of
from ..engine.volcano.releases import RELEASES, parse_release


class ReleaseLine(NamedTuple):
    """A release in the list.

    :param sessions: its sessions can be run.
    :param changed: behaviours in which it differs from the release before it in the list.
    """

    name: str
    sessions: bool
    changed: tuple[str, ...]


class Held(NamedTuple):
    """A behaviour as one release has it.

    :param since: the first release of each line that has it.
    """

    behaviour: str
    value: str
    since: tuple[str, ...]
    source: str
    why: str


class Differing(NamedTuple):
    """A behaviour in which two releases differ; ``why`` is what the newer rows say of it."""

    behaviour: str
    values: tuple[str, str]
    why: str
    source: str


def release_lines() -> list[ReleaseLine]:
    """Return all releases, oldest first."""
    found, before = [], rows_of(RELEASES[0])
    for release in RELEASES:
        rows = rows_of(release)
        changed = tuple(sorted(n for n in rows if rows[n].value != before[n].value))
        found.append(ReleaseLine(str(release), release in SUPPORTED, changed))
        before = rows
    return found


def behaviours_of(name: str) -> list[Held]:
    """Return a release's behaviours by name.

    :raises UsageError: there is no such release.
    """
    rows = rows_of(parse_release(name))
    return [
        Held(
            behaviour,
            value_text(row.value),
            tuple(map(str, row.change.landed)),
            row.source,
            row.why,
        )
        for behaviour, row in sorted(rows.items())
    ]


def release_diff(one: str, other: str) -> list[Differing]:
    """Return the behaviours in which two releases differ, by name.

    :raises UsageError: there is no such release.
    """
    releases = parse_release(one), parse_release(other)
    left, right = map(rows_of, releases)
    return [
        Differing(
            behaviour,
            (value_text(left[behaviour].value), value_text(right[behaviour].value)),
            _later(left[behaviour], right[behaviour]).why,
            _later(left[behaviour], right[behaviour]).source,
        )
        for behaviour in sorted(left)
        if left[behaviour].value != right[behaviour].value
    ]


def value_text(value: object) -> str:
    """Return a behaviour's value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value.value) if isinstance(value, Enum) else str(value)


def _later(one: Row, other: Row) -> Row:
    """Return the row that landed later: it says what became different."""
    return max(one, other, key=lambda row: row.change.landed[-1])

"""Releases of Volcano side by side: which behaviours each has, and in which two differ."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from ..engine.volcano.history import HISTORY, SUPPORTED, rows_of
from ..engine.volcano.proofs import is_claim, lack, proof_of, unproven
from ..engine.volcano.releases import RELEASES, Row, parse_release


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
    :param pull: the pull request that brought it; None if it was so from the beginning.
    :param proof: the recorded scenario and the release under which its outcome depends on it; None
        if there is none.
    """

    behaviour: str
    value: str
    since: tuple[str, ...]
    source: str
    why: str
    pull: str | None
    proof: str | None


class BehaviourDiff(NamedTuple):
    """A behaviour in which releases differ; ``why`` is what the newest of their rows says of it.

    :param values: by release. :param since: the first release of each line that has the newest.
    :param pull: the pull request that brought the newest.
    """

    behaviour: str
    values: tuple[str, ...]
    why: str
    source: str
    since: tuple[str, ...]
    pull: str | None


class Unproven(NamedTuple):
    """A row of the history that no recorded outcome proves.

    :param since: the first release of each line that has it.
    :param lack: why nothing proves it.
    """

    behaviour: str
    value: str
    since: tuple[str, ...]
    source: str
    why: str
    lack: str


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
            row.link,
            None if (proof := proof_of(row)) is None else str(proof),
        )
        for behaviour, row in sorted(rows.items())
    ]


def release_diff(*names: str) -> list[BehaviourDiff]:
    """Return the behaviours in which two or more releases differ, by name.

    :raises UsageError: there is no such release.
    """
    held = [rows_of(parse_release(name)) for name in names]
    found = []
    for behaviour in sorted(held[0]):
        rows = [of[behaviour] for of in held]
        if any(row.value != rows[0].value for row in rows):
            values = tuple(value_text(row.value) for row in rows)
            latest = _latest(rows)
            since = tuple(map(str, latest.change.landed))
            found.append(
                BehaviourDiff(behaviour, values, latest.why, latest.source, since, pull=latest.link)
            )
    return found


def unproven_rows() -> tuple[int, list[Unproven]]:
    """Return how many rows about Volcano there are, and those of them that nothing proves."""
    found = [
        Unproven(
            row.behaviour,
            value_text(row.value),
            tuple(map(str, row.change.landed)),
            row.source,
            row.why,
            lack(row),
        )
        for row in unproven()
    ]
    return sum(map(is_claim, HISTORY)), found


def value_text(value: object) -> str:
    """Return a behaviour's value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, frozenset):
        return ",".join(sorted(map(value_text, value))) or "none"
    return str(value.value) if isinstance(value, Enum) else str(value)


def _latest(rows: Sequence[Row]) -> Row:
    """Return the row that landed last: it says what became different."""
    return max(rows, key=lambda row: row.change.landed[-1])

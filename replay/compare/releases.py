"""Releases of Volcano side by side: the behaviours of each, and those in which two differ."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from itertools import pairwise

import msgspec

from ...engine.volcano.proofs import claims, lack, proof_of, unproven
from ...engine.volcano.releases import RELEASES, Row, known_release, parse_release
from ...engine.volcano.table import Part, part_of, rows_in, subjects_of


class ReleaseLine(msgspec.Struct, frozen=True):
    """A release in the list of releases.

    :param changed: by part of Volcano, the behaviours that differ from the previous release in the
        list.
    :param lacking: of these, by behaviour, the release of an older line that has a newer row: the
        previous release has a backport that came too late for this one.
    """

    name: str
    changed: Mapping[Part, tuple[str, ...]]
    lacking: Mapping[str, str]


class ReleaseBehaviour(msgspec.Struct, frozen=True):
    """A behaviour of one release.

    :param since: the first release of each line that has it.
    :param pull: the pull request that introduced it; None if it was so from the beginning.
    :param proof: the recorded scenario and the release in which the outcome depends on it; None if
        there is none.
    :param subject: what it is about, as in ``preempt``.
    """

    behaviour: str
    part: Part
    value: str
    since: tuple[str, ...]
    source: str
    why: str
    pull: str | None
    proof: str | None
    subject: str


class BehaviourDiff(msgspec.Struct, frozen=True):
    """A behaviour in which releases differ.

    :param values: by release.
    :param why: what the last of the releases does, if it differs from the first; else what the
        newest of their rows says.
    :param since: the first release of each line that has the newest.
    :param pull: the pull request that introduced the newest.
    :param subject: what it is about, as in ``preempt``.
    """

    behaviour: str
    part: Part
    values: tuple[str, ...]
    why: str
    source: str
    since: tuple[str, ...]
    pull: str | None
    subject: str


class Unproven(msgspec.Struct, frozen=True):
    """A row of the history that no recorded outcome proves.

    :param since: the first release of each line that has it.
    :param lack: why no outcome proves it.
    """

    behaviour: str
    part: Part
    value: str
    since: tuple[str, ...]
    source: str
    why: str
    lack: str


def release_lines() -> list[ReleaseLine]:
    """Return all releases, oldest first."""
    lines = []
    # The first release is compared with itself, so that it is in the list, without changes.
    for before, release in pairwise((RELEASES[0], *RELEASES)):
        changed: dict[Part, tuple[str, ...]] = {}
        lacking: dict[str, str] = {}
        for part in Part:
            rows, old = rows_in(part, release), rows_in(part, before)
            changed[part] = tuple(sorted(n for n in rows if rows[n].value != old[n].value))
            for name in changed[part]:
                # The older line got the change by a backport after this release was made.
                backport = old[name].change
                if not backport.reached(release):
                    (first,) = (landed for landed in backport.landed if landed.line == before.line)
                    lacking[name] = str(first)
        lines.append(ReleaseLine(str(release), changed, lacking))
    return lines


def all_subjects() -> list[str]:
    """Return the subjects of behaviours, by name."""
    return sorted({subject for part in Part for subject in subjects_of(part).values()})


def behaviours_of(
    name: str, parts: Sequence[Part] = tuple(Part), subjects: Collection[str] = ()
) -> list[ReleaseBehaviour]:
    """Return a release's behaviours, part by part, by name.

    :param subjects: only behaviours of these subjects; without any, all.

    :raises UsageError: there is no such release.
    """
    release = parse_release(name)
    rows_by_part = {part: rows_in(part, release) for part in parts}
    return [
        ReleaseBehaviour(
            behaviour,
            part,
            value_text(row.value),
            tuple(map(str, row.change.landed)),
            row.source,
            row.why,
            row.link,
            None if (proof := proof_of(row)) is None else str(proof),
            subject,
        )
        for part in parts
        for behaviour, subject in _named(part, subjects)
        for row in (rows_by_part[part][behaviour],)
    ]


def release_diff(
    *names: str, parts: Sequence[Part] = tuple(Part), subjects: Collection[str] = ()
) -> list[BehaviourDiff]:
    """Return the behaviours in which two or more releases differ, part by part, by name.

    :param names: pre-releases are taken, too.
    :param subjects: only behaviours of these subjects; without any, all.
    :raises UsageError: there is no such release.
    """
    releases = [known_release(name) for name in names]
    diffs = []
    for part in parts:
        rows_by_release = [rows_in(part, release) for release in releases]
        for behaviour, subject in _named(part, subjects):
            rows = [of[behaviour] for of in rows_by_release]
            if any(row.value != rows[0].value for row in rows):
                diffs.append(_differing(part, subject, rows))
    return diffs


def session_diff(*names: str) -> list[BehaviourDiff]:
    """Return the behaviours in which sessions of two or more releases differ, by name.

    :raises UsageError: there is no such release.
    """
    return release_diff(*names, parts=(Part.SESSION,))


def unproven_rows() -> tuple[int, list[Unproven]]:
    """Return the number of rows about Volcano, and those that no recorded outcome proves."""
    unprovens = [
        Unproven(
            row.behaviour,
            part_of(row.behaviour),
            value_text(row.value),
            tuple(map(str, row.change.landed)),
            row.source,
            row.why,
            lack(row),
        )
        for row in unproven()
    ]
    return len(claims()), unprovens


def _named(part: Part, subjects: Collection[str]) -> list[tuple[str, str]]:
    """Return the behaviours of a part with their subjects, by name."""
    by_name = sorted(subjects_of(part).items())
    return [(name, subject) for name, subject in by_name if not subjects or subject in subjects]


def _differing(part: Part, subject: str, rows: Sequence[Row]) -> BehaviourDiff:
    latest = _latest(rows)
    last = rows[-1] if rows[-1].value != rows[0].value else latest
    return BehaviourDiff(
        latest.behaviour,
        part,
        tuple(value_text(row.value) for row in rows),
        last.why,
        latest.source,
        tuple(map(str, latest.change.landed)),
        latest.link,
        subject,
    )


def value_text(value: object) -> str:
    """Return a behaviour's value as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, frozenset):
        return ",".join(sorted(map(value_text, value))) or "none"
    return str(value.value) if isinstance(value, Enum) else str(value)


def _latest(rows: Sequence[Row]) -> Row:
    """Return the last merged row: it says what changed."""
    return max(rows, key=lambda row: row.change.landed[-1])

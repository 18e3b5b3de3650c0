"""Rows of the table of releases: a behaviour's value from a change on, and where it landed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .release import Release, parse_release


@dataclass(frozen=True, slots=True)
class Change:
    """One change, landed on the main line and by cherry-pick on older release lines.

    :param landed: the first release of each line that has it, ascending; the last one is where the
        main line got it, and all later lines have it.
    """

    landed: tuple[Release, ...]

    def reached(self, release: Release) -> bool:
        """Say whether a release has the change."""
        if release.line > self.landed[-1].line:
            return True
        return any(point.line == release.line and release >= point for point in self.landed)


REPOSITORY = "volcano-sh/volcano"
"""Where pull requests are numbered, on GitHub."""


@dataclass(frozen=True, slots=True)
class Row:
    """One behaviour's value from a change on.

    :param source: where it is to be read: a path below ``pkg/scheduler/`` and a function; of our
        own release, a path in this repository and the test that holds it.
    :param why: what it means for who runs the release.
    :param pull: the number of the pull request of volcano-sh/volcano that brought it to the main
        line; None for what was so from the beginning, and where the history of Volcano names none.
    """

    behaviour: str
    value: Any
    change: Change
    source: str
    why: str
    pull: int | None = None

    @property
    def link(self) -> str | None:
        """The pull request as GitHub links to it, as in ``volcano-sh/volcano#3391``."""
        return None if self.pull is None else f"{REPOSITORY}#{self.pull}"


def landed(*names: str) -> Change:
    """Return the change that landed in these releases."""
    return Change(tuple(map(parse_release, names)))


FIRST = landed("v1.8.0")
"""Since ever, as far as the history reaches."""


def in_landing_order(*rows: Row) -> tuple[Row, ...]:
    """Return rows in the order in which they landed on the main line."""
    return tuple(sorted(rows, key=lambda row: row.change.landed[-1]))

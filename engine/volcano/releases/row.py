"""Rows of the table of releases: a behaviour's value since a change, and its first releases."""

from __future__ import annotations

from typing import Any

import msgspec

from .pre_release import PreRelease
from .release import Release, parse_release


class DatedChange(msgspec.Struct, frozen=True):
    """One change, on the main line and cherry-picked to older release lines.

    :param landed: the first release with it on each line, ascending. The last one is that of the
        main line; all later lines have the change.
    """

    landed: tuple[Release, ...]

    def reached(self, release: Release) -> bool:
        """Return whether a release has the change."""
        if release.line > self.landed[-1].line:
            return True
        # A line between two of them lacks the change: nothing was cherry-picked to it.
        return any(point.line == release.line and release >= point for point in self.landed)


REPOSITORY = "volcano-sh/volcano"
"""Where pull requests are numbered, on GitHub."""


class Row(msgspec.Struct, frozen=True):
    """One behaviour's value since a change.

    :param source: where the code is: a path below ``pkg/scheduler/`` and a function; for Plinian's
        release, a path in this repository and the test that checks it.
    :param why: what it means for a person who runs the release.
    :param pull: the number of the pull request of volcano-sh/volcano that introduced it on the main
        line; None if it was so from the beginning, or Volcano's history names none.
    :param fault: what the release fails to check or to count then, so that it may start what should
        wait; empty if nothing.
    """

    behaviour: str
    value: Any
    change: DatedChange
    source: str
    why: str
    pull: int | None = None
    fault: str = ""

    def is_in(self, release: Release | PreRelease) -> bool:
        """Return whether a release has the change of this row."""
        if isinstance(release, PreRelease):
            return self.pull not in release.lacks and self.change.reached(release.becomes)
        return self.change.reached(release)

    @property
    def link(self) -> str | None:
        """The pull request as GitHub links to it, as in ``volcano-sh/volcano#3391``."""
        return None if self.pull is None else f"{REPOSITORY}#{self.pull}"


def landed(*names: str) -> DatedChange:
    """Return the change whose first releases are these."""
    return DatedChange(tuple(map(parse_release, names)))


FIRST = landed("v1.8.0")
"""Since ever, as far as the history reaches."""


def in_landing_order(*rows: Row) -> tuple[Row, ...]:
    """Return rows in the order in which they landed on the main line."""
    return tuple(sorted(rows, key=lambda row: row.change.landed[-1]))

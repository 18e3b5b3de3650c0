"""Releases of Volcano: a tree of lines, on which changes land one by one."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import UsageError

_NAME = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")


class Release(NamedTuple):
    """One release; compared only here and in :mod:`.history`."""

    major: int
    minor: int
    patch: int
    name: str = ""
    """Of a release of our own, which has no number that anybody knows."""

    @property
    def ours(self) -> bool:
        """Whether Volcano has no such release."""
        return bool(self.name)

    @property
    def line(self) -> tuple[int, int]:
        """The release line, which gets fixes of its own after the next one was begun."""
        return (self.major, self.minor)

    def __str__(self) -> str:
        return self.name or f"v{self.major}.{self.minor}.{self.patch}"


def _line(minor: int, patches: int) -> tuple[Release, ...]:
    return tuple(Release(1, minor, patch) for patch in range(patches))


HARDENED = Release(sys.maxsize, 0, 0, "hardened")
"""What the newest release does, and remedies that no release has: on a line after all others."""

RELEASES: tuple[Release, ...] = (
    *_line(8, 3),
    *_line(9, 2),
    *_line(10, 3),
    *_line(11, 3),
    *_line(12, 5),
    *_line(13, 4),
    *_line(14, 5),
    *_line(15, 2),
    HARDENED,
)
"""All releases that are known, pre-releases left out; our own comes last."""


def parse_release(text: str) -> Release:
    """Return the release of a name such as ``v1.12.1``, or ``hardened``.

    :raises UsageError: it is no name of a release, or of one that is not known.
    """
    if text.strip() == HARDENED.name:
        return HARDENED
    match = _NAME.fullmatch(text.strip())
    newest = max(release for release in RELEASES if not release.ours)
    known = f"known are {RELEASES[0]} to {newest}, and {HARDENED}"
    if match is None:
        raise UsageError(f"{text!r} is no release of Volcano", now=f"{known}; write {newest}")
    major, minor, patch = map(int, match.groups())
    release = Release(major, minor, patch)
    if release not in RELEASES:
        nearest = [str(other) for other in RELEASES if other.line == release.line]
        now = f"of that line there are {', '.join(nearest)}" if nearest else known
        raise UsageError(f"there is no release {release} of Volcano", now=now)
    return release


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

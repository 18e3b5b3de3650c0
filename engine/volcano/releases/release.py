"""Releases of Volcano: release lines, and the changes that each release has."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ...errors import UsageError

_NAME = re.compile(r"v?([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?([-+].+)?")


class Release(NamedTuple):
    """One release; compared only here and in :mod:`.row`."""

    major: int
    minor: int
    patch: int
    name: str = ""
    """The name of a release of this project, which has no number of Volcano's."""

    @property
    def ours(self) -> bool:
        """Whether Volcano has no such release."""
        return bool(self.name)

    @property
    def line(self) -> tuple[int, int]:
        """The release line: it still gets fixes after the next line has begun."""
        return (self.major, self.minor)

    def __str__(self) -> str:
        return self.name or f"v{self.major}.{self.minor}.{self.patch}"


def _line(minor: int, patches: int) -> tuple[Release, ...]:
    return tuple(Release(1, minor, patch) for patch in range(patches))


HARDENED = Release(sys.maxsize, 0, 0, "hardened")
"""Plinian's release: the newest one with fixes that no release has, on a line after all others."""

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
"""All known releases, without pre-releases; Plinian's own comes last."""

_BY_NAME: Mapping[str, Release] = MappingProxyType(
    {str(release): release for release in RELEASES}
    | {str(release).removeprefix("v"): release for release in RELEASES}
)
"""By name, with and without its ``v``."""

_VOLCANO = tuple(release for release in RELEASES if not release.ours)


def parse_release(text: str) -> Release:
    """Return the release of a name such as ``v1.12.1``, or ``hardened``.

    :raises UsageError: it is not the name of a release, or the release is not known.
    """
    text = text.strip()
    known = _BY_NAME.get(text)
    if known is not None:
        return known
    near = nearest_release(text)
    first, last = _VOLCANO[0], _VOLCANO[-1]
    if near is None:
        now = f"known are {first} to {last}, and {HARDENED}; write {last}"
        raise UsageError(f"{text!r} is not a release of Volcano", now=now)
    line = ", ".join(str(release) for release in _VOLCANO if release.line == near.line)
    raise UsageError(
        f"{text} {_why_unknown(text)}",
        now=f"nearest are {line}; --assume treats it as {near} (known are {first} to {last}, and "
        f"{HARDENED})",
    )


def nearest_release(text: str) -> Release | None:
    """Return the release of Volcano nearest to an unknown version; None if it has no number.

    In a known line it is the nearest patch; without a patch, the newest of the line. For a version
    before or after all lines it is the oldest or the newest release.
    """
    match = _NAME.fullmatch(text)
    if match is None:
        return None
    line = (int(match[1]), int(match[2]))
    of_line = [release for release in _VOLCANO if release.line == line]
    if not of_line:
        return max((release for release in _VOLCANO if release.line < line), default=_VOLCANO[0])
    patch = of_line[-1].patch if match[3] is None else int(match[3])
    # Of two patches that are equally near, the newer one.
    return min(reversed(of_line), key=lambda release: abs(release.patch - patch))


def _why_unknown(text: str) -> str:
    """Return why a name that has the form of a release is unknown."""
    match = _NAME.fullmatch(text)
    assert match is not None
    line = (int(match[1]), int(match[2]))
    if line < _VOLCANO[0].line:
        return f"is older than {_VOLCANO[0]}, the oldest release that is known"
    if match[4]:
        return "is a pre-release or a custom build, and only releases can be run here"
    if line > _VOLCANO[-1].line:
        return f"is newer than {_VOLCANO[-1]}, the newest release that is known"
    if match[3] is None:
        return "names a line of releases, not one of its releases"
    return "is not a known release of Volcano"

"""Pre-releases that searches for races know, because a fault was never in a release."""

from __future__ import annotations

from typing import NamedTuple

from .release import Release, parse_release


class PreRelease(NamedTuple):
    """A pre-release as what became a release later, without changes that came in between.

    No command runs it unless it is named, and no list of all releases has it.

    :param becomes: the release that has everything that the pre-release has.
    :param lacks: the pull requests of behaviours that came in between.
    """

    name: str
    becomes: Release
    lacks: frozenset[int]

    def __str__(self) -> str:
        return self.name


PRE_RELEASES: tuple[PreRelease, ...] = (
    PreRelease(
        "v1.9.0-alpha.0",
        parse_release("v1.9.0"),
        frozenset(
            {
                *(3283, 3335, 3352, 3360, 3389, 3448, 3458),  # sessions
                *(3375, 3391),  # what the scheduler's cache knows
                *(3325, 3435, 3442),  # the rest of the cache; none of the controllers
            }
        ),
    ),
)
"""Known pre-releases.

Source: git diff v1.9.0-alpha.0 v1.9.0 -- pkg/scheduler pkg/controllers.
"""


def known_release(text: str) -> Release | PreRelease:
    """Return the release or the known pre-release of a name.

    :raises UsageError: there is none.
    """
    text = text.strip()
    for release in PRE_RELEASES:
        if text in {release.name, release.name.removeprefix("v")}:
            return release
    return parse_release(text)


def final_release(text: str) -> Release:
    """Return the release of a name; for a pre-release, the one that it becomes.

    :raises UsageError: it is not known.
    """
    at = known_release(text)
    return at.becomes if isinstance(at, PreRelease) else at

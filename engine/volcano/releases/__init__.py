"""Releases of Volcano, and the rows that say from which release on a behaviour has a value."""

from .pre_release import PRE_RELEASES, PreRelease, final_release, known_release
from .release import HARDENED, RELEASES, Release, nearest_release, parse_release
from .row import FIRST, REPOSITORY, Change, Row, in_landing_order, landed

__all__ = [
    "FIRST",
    "HARDENED",
    "PRE_RELEASES",
    "RELEASES",
    "REPOSITORY",
    "Change",
    "PreRelease",
    "Release",
    "Row",
    "final_release",
    "in_landing_order",
    "known_release",
    "landed",
    "nearest_release",
    "parse_release",
]

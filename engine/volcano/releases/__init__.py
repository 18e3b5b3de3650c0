"""Releases of Volcano, and the rows that say from which release on a behaviour has a value."""

from .release import HARDENED, RELEASES, Release, nearest_release, parse_release
from .row import FIRST, REPOSITORY, Change, Row, in_landing_order, landed

__all__ = [
    "FIRST",
    "HARDENED",
    "RELEASES",
    "REPOSITORY",
    "Change",
    "Release",
    "Row",
    "in_landing_order",
    "landed",
    "nearest_release",
    "parse_release",
]

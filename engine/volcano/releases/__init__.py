"""Releases of Volcano, and how a behaviour is declared: its values, and since which release."""

from .behaviour import behaviour, effects_of, history_of, since, subject
from .pre_release import PRE_RELEASES, PreRelease, final_release, known_release
from .release import HARDENED, RELEASES, Release, nearest_release, parse_release
from .row import FIRST, REPOSITORY, DatedChange, Row, landed

__all__ = [
    "FIRST",
    "HARDENED",
    "PRE_RELEASES",
    "RELEASES",
    "REPOSITORY",
    "DatedChange",
    "PreRelease",
    "Release",
    "Row",
    "behaviour",
    "effects_of",
    "final_release",
    "history_of",
    "known_release",
    "landed",
    "nearest_release",
    "parse_release",
    "since",
    "subject",
]

"""Common arguments in Python: releases, configurations and lists."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from os import PathLike
from typing import TypeAlias

from ...engine.errors import UsageError
from ...engine.kubernetes.units import parse_time
from ..sessions.assumed import taken_release
from ..truth.points import point_text

FilePath: TypeAlias = str | PathLike[str]


def paths_of(paths: FilePath | Iterable[FilePath]) -> list[str]:
    """Return paths as a list of texts; a single one need not be in one."""
    several_paths = [paths] if isinstance(paths, str | PathLike) else paths
    return [str(path) for path in several_paths]


def release_of(name: str, *, assume: bool, pre_releases: bool = False) -> str:
    """Return the release that a name stands for.

    :param assume: use the nearest release for an unknown one.
    :param pre_releases: take known pre-releases, too.
    :raises UsageError: it is not known, and nothing may be assumed.
    """
    return taken_release(name, assume=assume, pre_releases=pre_releases).release


def present_time(now: str | datetime | None) -> int | None:
    """Return a time in microseconds since 1970; None stays None.

    :raises UsageError: it is not an RFC 3339 time, or is a datetime without a time zone.
    """
    if now is None:
        return None
    try:
        return parse_time(point_text(now))
    except ValueError as fault:
        raise UsageError(f"now: {fault}", now="write 2025-07-30T07:56:43Z") from fault

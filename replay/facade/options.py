"""Common arguments in Python: releases, configurations and lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ...engine.errors import UsageError
from ...engine.kubernetes.units import parse_time
from ..sessions.assumed import rejections, taken_release
from ..truth.points import point_text

if TYPE_CHECKING:
    from ..logs.scheduler_confs import ConfText

FilePath: TypeAlias = str | PathLike[str]

Conf: TypeAlias = "str | PathLike[str] | ConfText"
"""A scheduler configuration: the path of a volcano-scheduler.conf, or its text with a name."""

Names: TypeAlias = str | Sequence[str]
"""One name, or several."""


def several(names: Names) -> list[str]:
    """Return names as a list; a single one need not be in one."""
    return [names] if isinstance(names, str) else list(names)


def paths_of(paths: FilePath | Iterable[FilePath]) -> list[str]:
    """Return paths as a list of texts; a single one need not be in one."""
    some = [paths] if isinstance(paths, str | PathLike) else paths
    return [str(path) for path in some]


def release_of(name: str, *, assume: bool, pre_releases: bool = False) -> str:
    """Return the release that a name stands for.

    :param assume: use the nearest release for an unknown one.
    :param pre_releases: take known pre-releases, too.
    :raises UsageError: it is not known, and nothing may be assumed.
    """
    return taken_release(name, assume=assume, pre_releases=pre_releases).release


def conf_text(conf: Conf | None) -> ConfText | None:
    """Return a configuration, read from its file if it is a path; None stays None.

    :raises InputError: the file is missing, or is not text.
    """
    from ..logs.given_confs import conf_file  # noqa: PLC0415

    return conf_file(Path(conf)) if isinstance(conf, str | PathLike) else conf


def conf_texts(confs: Sequence[Conf | None]) -> list[ConfText | None]:
    """Return configurations as :func:`conf_text` does; those of several files differ in source."""
    from ..logs.given_confs import conf_files  # noqa: PLC0415

    paths = [Path(one) for one in confs if isinstance(one, str | PathLike)]
    read = iter(conf_files(paths))
    return [next(read) if isinstance(one, str | PathLike) else one for one in confs]


def accepted_conf(conf: Conf | None, releases: Sequence[str], *, assume: bool) -> ConfText | None:
    """Return a configuration that these releases run with.

    :param assume: a release that rejects it runs with its built-in one.
    :raises UsageError: one rejects it, and nothing may be assumed.
    """
    given = conf_text(conf)
    list(rejections([given], releases, assume=assume))
    return given


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

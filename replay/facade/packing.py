"""Packs from Python: a slice of a log in one file, and what such a file is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from ..logs.log import Log
from ..pack import opened
from ..pack import pack_writing as write
from ..pack.file import Progress
from ..pack.opened import OpenedPack
from ..pack.pack_writing import Packed
from ..truth.points import Point
from .options import FilePath


def open_pack(
    file: FilePath,
    *,
    map: FilePath | None = None,  # noqa: A002 -- it is the option's name
    progress: Callable[[int, int], None] | None = None,
) -> OpenedPack:
    """Check a pack, run its session again, and compare with the expected answer.

    A pack is a log: :func:`plinian.open` opens it, for everything else.

    :param map: the map of its names; with it, decisions and the question have the original names.
    :param progress: called with (events checked, in all).
    :raises LogNotFound: there is no such file.
    :raises LogCorrupt: it is damaged.
    :raises LogNewer: a newer Plinian wrote it.
    :raises UsageError: it is a log, but no pack; or the map is that of another pack.
    """
    return opened.open_pack(
        str(file), map_file=None if map is None else str(map), progress=progress
    )


def packed(
    log: Log,
    file: FilePath,
    *,
    at: Point,
    around: str | timedelta,
    release: str,
    ask: str,
    redact: bool,
    map: FilePath | None,  # noqa: A002 -- it is the option's name
    progress: Progress | None,
) -> Packed:
    """Write a pack; errors are those of ``Log.pack``."""
    if isinstance(around, timedelta):
        time = around // timedelta(microseconds=1)
    else:
        time = write.duration_of(around)
    place = str(file)
    return write.pack(
        log,
        Path(place),
        at=at,
        around=time,
        release=release,
        ask=ask,
        map_file=write.map_place(place, None if map is None else str(map), redact=redact),
        progress=progress,
    )

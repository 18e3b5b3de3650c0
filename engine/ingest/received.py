"""Receiving times: files beside watch streams that say when each line was received.

``watch-pods.recv`` belongs to ``watch-pods.jsonl`` (``.json``, ``.jsonl.gz`` …): a line for each of
its lines, in seconds since 1970 UTC with a fraction. Lines that begin with ``#`` are comments and
do not count. Whoever records a watch can write one; it says by when each change had happened.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from ..units import SECOND_US

SUFFIX = ".recv"

_MOST_BYTES = 32 * 2**20
_COMPRESSED = frozenset({".gz", ".xz", ".zst", ".bz2"})
_LAST_SECOND = 253_402_300_799
"""The end of the year 9999."""


class Received(msgspec.Struct, frozen=True):
    """When the lines of a document were received.

    :param times: microseconds, in the order of the lines. :param path: of the file that told;
        empty if there is none. :param fault: why it is not used; empty if it is.
    """

    times: npt.NDArray[np.int64]
    path: str = ""
    fault: str = ""


def receiving_times(source: str) -> Received:
    """Return the receiving times of a document, none if no file beside it tells them.

    :param source: path of the document; one within an archive has none.
    """
    nothing = np.empty(0, np.int64)
    path = _beside(source)
    if path is None:
        return Received(nothing)
    try:
        if path.stat().st_size > _MOST_BYTES:
            return Received(nothing, str(path), f"it has more than {_MOST_BYTES // 2**20} MiB")
        lines = path.read_text("ascii").splitlines()
        seconds = np.array([line for line in lines if line and line[0] != "#"], np.float64)
    except (OSError, ValueError) as fault:
        return Received(nothing, str(path), str(fault))
    if not ((seconds > 0) & (seconds < _LAST_SECOND)).all():
        return Received(nothing, str(path), "a line is no time in seconds since 1970")
    return Received(np.rint(seconds * SECOND_US).astype(np.int64), str(path))


def tells_of_another(source: str) -> bool:
    """Say whether a file holds the receiving times of another file beside it."""
    path = Path(source)
    if path.suffix != SUFFIX or "!" in source:
        return False
    try:
        return any(
            other.is_file() and _beside(str(other)) == path for other in path.parent.iterdir()
        )
    except OSError:
        return False


def _beside(source: str) -> Path | None:
    if "!" in source:
        return None
    path = Path(source)
    stem = path.with_suffix("") if path.suffix in _COMPRESSED else path
    if stem.suffix == SUFFIX or not stem.suffix:
        return None
    found = stem.with_suffix(SUFFIX)
    return found if found.is_file() else None

"""Plinian: the recorded history of a cluster that runs Volcano, and its state at any moment.

The public API is what this module lists; everything else may move between releases::

    import plinian

    with plinian.open("plinian.db", create=True) as log:
        log.ingest(["audit.log", "watch-pods.jsonl"])
        pods = log.get("pods", at="2026-01-02T03:04:05Z", namespace="default")
        print(log.diff("-5m", "end").changed)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .engine.errors import PlinianError

if TYPE_CHECKING:
    from os import PathLike

    from .replay.log import Log

__all__ = ["Log", "PlinianError", "open"]


def open(  # noqa: A001 -- plinian.open reads as what it is
    place: str | PathLike[str],
    *,
    create: bool = False,
    read_only: bool = False,
    branch: str = "main",
    cluster: str | None = None,
) -> Log:
    """Open the log at a path, an ``sqlite:///`` or a ``postgresql://`` URL.

    :param create: found a new log if there is none.
    :param read_only: promise to write nothing; works on a log that may not be written.
    :param branch: which branch is meant where none is named.
    :param cluster: which cluster; may be left out while the log holds only one.
    :raises LogNotFound: there is no log, and ``create`` is not set.
    """
    from .replay.log import opened  # noqa: PLC0415 -- import plinian stays cheap

    return opened(str(place), create=create, read_only=read_only, branch=branch, cluster=cluster)


def __getattr__(name: str) -> object:
    # Log brings the state's arrays with it, which a program that only catches errors never needs.
    if name == "Log":
        from .replay.log import Log  # noqa: PLC0415

        return Log
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

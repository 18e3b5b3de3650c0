"""Builds of an index that another process runs: it must be able to import them by this name."""

from __future__ import annotations

import os
from pathlib import Path
from time import process_time

from plinian.engine.errors import UsageError


def pid(folder: str, cluster: str) -> int:
    """Build nothing, and leave the number of the process that was asked."""
    (Path(folder) / cluster).write_text(str(os.getpid()), "utf-8")
    return 1


def refuse(cluster: str) -> int:
    """Fail, as a build does whose log is away."""
    raise UsageError(f"{cluster} cannot be read")


def spend(cluster: str) -> int:
    """Take a tenth of a second of a processor; ``cluster`` is a file that counts the calls."""
    with Path(cluster).open("a", encoding="utf-8") as counted:
        counted.write("x")
    end = process_time() + 0.1
    while process_time() < end:
        pass
    return len(Path(cluster).read_text("utf-8"))

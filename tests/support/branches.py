"""Logs with a branch that a server can write."""

from __future__ import annotations

import shutil
from pathlib import Path

from plinian.engine.log import open_log

BRANCH = "tried"
FORK = 1942
"""A position of the demo's log at which jobs wait."""


def with_branch(log: Path, place: Path) -> Path:
    """Copy a log, and give it a branch."""
    shutil.copy(log, place)
    with open_log(place) as store:
        store.create_branch(BRANCH, fork=FORK)
    return place

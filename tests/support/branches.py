"""Logs with a branch that a server can write."""

from __future__ import annotations

import shutil
from pathlib import Path

from plinian.engine.log import MAIN, open_log
from plinian.replay.logs.forks import fork_at

BRANCH = "tried"
WAITING = "@1901"
"""A moment of the demo's log at which jobs wait."""


def with_branch(log: Path, place: Path, point: str = WAITING) -> Path:
    """Copy a log, and give it a branch that begins at a moment."""
    shutil.copy(log, place)
    with open_log(place) as store:
        _, position = fork_at(store, point, branch=MAIN)
        store.create_branch(BRANCH, fork=position)
    return place

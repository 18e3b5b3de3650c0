"""A log that this user may only read is refused before anything is served."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from branches import BRANCH, with_branch
from unprivileged import another_user, readable_folder

import plinian.replay.facade.log  # noqa: F401 -- another user cannot import it later
from plinian.engine.errors import PlinianError
from plinian.replay.server.running import look
from plinian.replay.server.settings import ServerSettings

pytestmark = pytest.mark.skipif(
    os.getuid() != 0, reason="only root can become another user, whom a folder shuts out"
)


def looks(place: str) -> Generator[Any, bool, None]:
    """Answer what is said of a log, to be written or not."""
    writable = yield None
    while True:
        try:
            look(ServerSettings(place, branch=BRANCH, writable=writable))
        except PlinianError as fault:
            writable = yield type(fault).__name__
        else:
            writable = yield "fine"


def test_a_log_that_can_only_be_read_is_refused_at_the_start(demo_log: Path) -> None:
    with readable_folder() as folder:
        place = with_branch(demo_log, folder / "log.db")
        place.chmod(0o644)
        with another_user(looks, str(place)) as ask:
            assert ask(False) == "fine"
            assert ask(True) == "LogUnavailable"
        look(ServerSettings(str(place), branch=BRANCH, writable=True))

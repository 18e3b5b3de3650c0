"""Servers of a branch of the demo's log, which can be written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from branches import BRANCH, with_branch
from serving import Running, serving_here

from plinian.replay.server.settings import ServerSettings


@pytest.fixture
def branched(demo_log: Path, tmp_path: Path) -> Path:
    """Return a log with a branch that begins where jobs wait."""
    return with_branch(demo_log, tmp_path / "log.db")


@pytest.fixture
def writable(branched: Path) -> Iterator[Running]:
    """Return a server of the branch that accepts writes."""
    with serving_here(
        ServerSettings(place=str(branched), branch=BRANCH, port=0, writable=True)
    ) as running:
        yield running

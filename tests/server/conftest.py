"""What tests of the server share: the demo's log, and a server of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import TOKEN, Running, ended, serving

import plinian


@pytest.fixture(scope="session")
def demo_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of the demo's log; nothing may write to it."""
    place = tmp_path_factory.mktemp("served") / "demo.db"
    plinian.demo(place).close()
    return place


@pytest.fixture(scope="session")
def server(demo_log: Path) -> Iterator[Running]:
    """Return a server of the demo's log, which modules share: no test changes what it answers."""
    running = serving(demo_log)
    yield running
    ended(running)


@pytest.fixture(scope="session")
def protected(demo_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a server that needs a token."""
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text(TOKEN)
    running = serving(demo_log, "--token-file", str(file))
    yield running
    ended(running)

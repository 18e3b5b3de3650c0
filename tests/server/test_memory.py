"""A server keeps no more of what it is asked, however often that is."""

from __future__ import annotations

from pathlib import Path

import pytest
from serving import Running, ended, serving

PATHS = (
    *("", "/jobs", "/queues", "/queues/over-time", "/nodes", "/nodes/over-time", "/session"),
    *("/compare", "/sessions", "/diff?vs=300", "/check?over=moment&run=yes"),
    *("?pane=why&part=panel&sel=podgroup/default/big-gang", "?pane=drift&part=panel"),
)
QUESTIONS = ("belief?at=@{}", "drift?at=@{}", "sessions?until=@{}", "state/pods?at=@{}")
MARGIN = 1.06


@pytest.fixture
def running(demo_log: Path) -> Running:
    """Return a server of its own."""
    return serving(demo_log)


def _rss(running: Running) -> int:
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def _ask_everything(running: Running, turn: int) -> None:
    position = 500 + 25 * turn
    asked = [f"/@{position}{path}" for path in PATHS]
    asked += [f"/plinian/v1/{path.format(position)}" for path in QUESTIONS]
    asked += [f"/at/@{position}/api/v1/pods"]
    for path in asked:
        assert running.client.get(path).status_code == 200, path


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_memory_does_not_grow_with_use(running: Running) -> None:
    try:
        for turn in range(3):
            _ask_everything(running, turn)
        before = _rss(running)
        for turn in range(3, 10):
            _ask_everything(running, turn)
        assert _rss(running) < before * MARGIN
    finally:
        ended(running)

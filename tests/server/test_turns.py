"""Questions that need much memory: one at a time in a large log, else beside each other."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from plinian.replay.facade.log import Log
from plinian.replay.server import readers
from plinian.replay.server.answer_limits import AnswerLimit
from plinian.replay.server.readers import Readers
from plinian.replay.server.settings import ServerSettings

SOON, NEVER = 60.0, 0.3
"""Seconds in which two questions meet if they can, and in which they do not if they cannot."""


def _meet(place: Path, seconds: float) -> bool:
    """Ask a long question and one in the background; return whether both ran at one time."""
    both = threading.Barrier(2)

    def question(_log: Log) -> bool:
        try:
            both.wait(seconds)
        except threading.BrokenBarrierError:
            return False
        return True

    async def run() -> list[bool]:
        found = Readers(ServerSettings(place=str(place)))
        try:
            asked = (found.ask(question, long=True), found.work(question, AnswerLimit(SOON)))
            return list(await asyncio.gather(*asked))
        finally:
            found.close()

    return any(asyncio.run(run()))


def test_a_session_does_not_wait_for_a_search(demo_log: Path) -> None:
    assert _meet(demo_log, SOON)


def test_of_a_large_log_one_cache_is_in_memory_at_a_time(
    demo_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "LARGE", 1)
    assert not _meet(demo_log, NEVER)


def test_a_state_gives_way_to_a_cache(demo_log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plinian.replay.truth.log_states.LARGE", 1)

    async def run() -> tuple[bool, bool]:
        found = Readers(ServerSettings(place=str(demo_log)))
        try:
            before = await found.ask(lambda log: log.truth("end"))
            again = await found.ask(lambda log: log.truth("end"))
            later = await found.ask(lambda log: log.truth("end"), long=True)
            return again is before, later is before
        finally:
            found.close()

    assert asyncio.run(run()) == (True, False)

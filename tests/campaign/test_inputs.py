"""The campaign of mutated inputs finds what it is after, and a short run of it finds nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from campaign import inputs
from plinian.engine.log import open_log
from plinian.replay.ingest.ingest_run import IngestOptions, ingest


@pytest.mark.slow
def test_a_short_run_finds_nothing() -> None:
    figures = inputs.run(seed=1, count=300, seconds=600)
    assert not figures.tracebacks, "\n".join(figures.tracebacks)
    assert not figures.hangs, "\n".join(figures.hangs)
    assert figures.cases == 300


def test_the_same_seed_gives_the_same_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    def kept(into: list[bytes]) -> Any:
        def feed(_store: object, path: Path, *_rest: object) -> None:
            into.append(path.read_bytes())

        return feed

    one, other = list[bytes](), list[bytes]()
    for into in (one, other):
        monkeypatch.setattr(inputs, "_feed", kept(into))
        inputs.run(seed=7, count=30, seconds=600)
    assert one == other
    assert len(set(one)) > 20


@pytest.mark.parametrize("name", inputs.WRAPPERS)
def test_what_is_wrapped_reaches_the_formats(name: str, tmp_path: Path) -> None:
    line = b"I1128 10:00:00.100002       1 enqueue.go:45] Enter Enqueue ...\n"
    place = tmp_path / "log"
    place.write_bytes(inputs.WRAPPERS[name](line * 3))
    with open_log(tmp_path / "log.db", create=True) as log:
        summary = ingest(log, [str(place)], IngestOptions(year=2026))
    assert summary.formats == {"klog": 1}


def test_a_traceback_and_a_hang_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(inputs, "_feed", broken)
    assert "KeyError" in inputs.run(seed=1, count=2, seconds=600).tracebacks[0]

    def endless(*_given: object) -> None:
        while True:
            pass

    monkeypatch.setattr(inputs, "_feed", endless)
    monkeypatch.setattr(inputs, "HANG_SECONDS", 0.2)
    assert inputs.run(seed=1, count=2, seconds=600).hangs == ["seed 1, case 1"]


def test_a_run_is_bounded_by_time() -> None:
    assert inputs.run(seed=1, count=1000, seconds=0).cases == 0

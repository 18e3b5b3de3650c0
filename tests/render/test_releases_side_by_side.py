"""``simulate --release all``: releases side by side, also where the terminal is narrow."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.replay.render.simulation import releases_lines
from plinian.replay.render.tables import Style

RELEASES = ("v1.8.0", "v1.8.1", "v1.9.0", "v1.12.1", "v1.15.1")


def step(phase: str, panic: str | None = None, during: str = "") -> dict[str, Any]:
    group = {"phase": phase, "running": 0, "succeeded": 0, "failed": 0, "conditions": []}
    found = {"panic": panic, "binds": [], "pipelined": [], "evictions": [], "enqueued": []}
    more = {"panic_at": "cache.AddPod", "panic_during": during} if panic else {}
    return {**found, **more, "podgroups": {"ns/a-job": group}}


def results() -> list[dict[str, Any]]:
    phases = ("Pending", "Pending", "Inqueue", "Running", "Inqueue")
    return [
        {"name": "case", "version": release, "steps": [step(phase)]}
        for release, phase in zip(RELEASES, phases, strict=True)
    ]


def text(width: int | None, found: list[dict[str, Any]] | None = None) -> str:
    return "".join(releases_lines(found or results(), style=Style(width=width)))


@pytest.mark.parametrize("width", [50, 60])
def test_a_narrow_terminal_names_the_releases_that_it_does_not_show(width: int) -> None:
    lines = text(width).splitlines()
    assert all(len(line) <= width for line in lines)
    heads = ("v1.8.0..v1.8.1", "v1.9.0,v1.15.1", "v1.12.1")
    assert lines[1].split()[:4] == ["SESSION", "DECISION", "OBJECT", heads[0]]
    said = " ".join(lines)
    assert "columns not shown:" in said
    assert all(head in said for head in heads)


def test_with_room_and_through_a_pipe_releases_are_columns() -> None:
    heads = ["SESSION", "DECISION", "OBJECT", "v1.8.0..v1.8.1", "v1.9.0,v1.15.1", "v1.12.1"]
    assert text(None).splitlines()[1].split() == heads
    assert text(200) == text(None)


def test_a_panic_is_said_with_what_the_scheduler_does_meanwhile() -> None:
    during = "it handles Pod ns/a (ADDED)"
    crashed = [
        {"name": "case", "version": release, "steps": [step("Pending", "boom", during)]}
        for release in RELEASES[:2]
    ]
    assert f"  at cache.AddPod\n  while {during}\n" in text(None, crashed)

"""Recorded sessions run again, compared with the time that the recording took."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import plinian

from .measure import Result, clock

LIMIT = 20.0
RUNS = 3
"""Times that it is run; the least is reported."""


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:  # noqa: ARG001 # one recording
    """Run the sessions of the shipped recording again, in one process."""
    with plinian.demo(folder / "demo.db") as log:
        took = []
        for _ in range(RUNS):
            with clock() as reading:
                found = log.fidelity(jobs=1)
            took.append(reading.wall)
        sessions = found.sessions
        with clock() as session:
            log.session(at=f"session:{sessions[-1].number}")
    lasted = (sessions[-1].opened - sessions[0].opened) / 1_000_000
    yield Result(
        benchmark="fidelity",
        figure=f"`fidelity` of the demonstration, {len(sessions)} sessions in {lasted:.0f} s, "
        "compared with its duration, one process",
        value=lasted / min(took),
        unit="× faster",
        limit=LIMIT,
        better="more",
        note=f"{min(took):.2f} s; {sum(one.exact for one in sessions)} as recorded; the last "
        f"session alone with its cache {session.wall * 1000:.0f} ms",
    )

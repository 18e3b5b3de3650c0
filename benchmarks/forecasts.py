"""What happens next: how much faster than a cluster time passes, in the shipped recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import plinian

from .measure import Result, clock

AT = "2026-11-21T01:53:00Z"
SECONDS = 120
LIMIT = 20.0
RUNS = 3
"""Times that each is measured; the least is reported."""


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Let the cluster of the demonstration live on, as it was and with a change."""
    seconds = max(10, int(SECONDS * scale))
    with plinian.demo(folder / "demo.db") as log:
        took = []
        for _ in range(RUNS):
            with clock() as reading:
                found = log.forecast(f"{seconds}s", at=AT, cordon="node-3")
            took.append(reading.cpu)
        with clock() as session:
            log.session(at=AT)
    ran = sum(course.ran for course in found.courses)
    yield Result(
        benchmark="forecast",
        figure=f"`what-if --for {seconds}s`, as it was and with a change, compared with the time "
        "that passes in both",
        value=seconds * len(found.courses) / min(took),
        unit="× faster",
        limit=LIMIT,
        better="more",
        note=f"{min(took):.2f} s CPU; {ran} sessions run, one alone with its cache "
        f"{session.cpu * 1000:.0f} ms",
    )

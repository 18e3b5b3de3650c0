"""A page on a moment of a large log, compared with its answers alone, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import plinian
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief.stored_belief import build_beliefs

from .measure import Result, child, clock

SESSIONS = 1_000
RELEASE = "v1.12.1"
ANSWERS = 3
LIMIT = 1.5
RUNS = 3
"""Times that each is measured; the least is reported."""


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Make a page with three answers, at the end of a log."""
    place = str(folder / "log.db")
    count = max(20, int(SESSIONS * scale))
    child("benchmarks.stories", place, str(count))
    with plinian.open(place) as log:
        build_beliefs(log.store, resolve(RELEASE), branch="main", cluster="default")
        waiting = [
            f"podgroup/{one['metadata']['name']}"
            for one in log.get("podgroups")
            if one["status"].get("phase") == "Pending"
        ][:ANSWERS]
        alone, whole = [], []
        for _ in range(RUNS):
            with clock() as took:
                for named in waiting:
                    log.why(named, release=RELEASE)
            alone.append(took.cpu)
            with clock() as took:
                page = log.report(why=waiting, release=RELEASE)
            whole.append(took.cpu)
    yield Result(
        benchmark="report",
        figure=f"`report` with {len(waiting)} answers, {count:,} sessions, compared with the "
        "answers alone, one after the other",
        value=min(whole) / min(alone),
        unit="×",
        limit=LIMIT,
        note=f"{min(whole):.2f} s CPU, alone {min(alone):.2f} s; {len(page) / 1000:.0f} KB",
    )

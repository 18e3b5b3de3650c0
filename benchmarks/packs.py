"""Packs: time is that of the slice, not of the log.

The same slice is packed from a log and from one that is four times as long; then one of the same
length from the end of each. The logs are indexed as ``ingest`` does, and have the scheduler's cache
stored as sessions need it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import plinian
from plinian.engine.kubernetes.units import format_time
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief.stored_belief import build_beliefs
from plinian.replay.truth.truth import build_index

from .measure import Result, child, clock

SESSIONS = 300
LONGER = 4
RELEASE = "v1.12.1"
AROUND = 10
LIMIT = 1.5
LINEAR = 1.2
RUNS = 3
"""Times that each is packed; the least is reported."""


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Pack slices of two logs."""
    count = max(60, int(SESSIONS * scale))
    short, long = str(folder / "short.db"), str(folder / "long.db")
    for place, sessions in ((short, count), (long, LONGER * count)):
        child("benchmarks.stories", place, str(sessions))
        with plinian.open(place) as log:
            build_index(log.store, cluster="default")
            build_beliefs(log.store, resolve(RELEASE), branch="main", cluster="default")
    middle = _time_of(short, count // 2)
    for what, points in (
        ("the same slice", (middle, middle)),
        (
            "a slice at the end",
            (_time_of(short, count - 15), _time_of(long, LONGER * count - 15)),
        ),
    ):
        one, other = (
            _packed(place, folder, point)
            for place, point in zip((short, long), points, strict=True)
        )
        yield Result(
            benchmark="pack",
            figure=f"`pack`, {what} of {2 * AROUND} s, from a log {LONGER} times as long",
            value=other[0] / one[0],
            unit="×",
            limit=LIMIT,
            note=f"{one[0]:.2f} and {other[0]:.2f} s CPU; {one[1]:,} and {other[1]:,} events",
        )
    single, double = (_packed(short, folder, middle, around=AROUND * n) for n in (1, 2))
    growth = double[0] / single[0] / (double[1] / single[1])
    yield Result(
        benchmark="pack",
        figure="`pack`, a slice twice as long: growth of time, compared with that of events",
        value=growth,
        unit="×",
        limit=LINEAR,
        note=f"{single[0]:.2f} and {double[0]:.2f} s CPU; {single[1]:,} and {double[1]:,} events",
    )


def _time_of(place: str, session: int) -> str:
    """Return when a session was opened: to find one by its number, all of them are read."""
    with plinian.open(place, read_only=True) as log:
        return format_time(log.sessions()[session - 1].opened)


def _packed(place: str, folder: Path, point: str, around: int = AROUND) -> tuple[float, int]:
    """Return the CPU seconds of packing, and the number of events in the pack."""
    took = []
    for number in range(RUNS):
        file = folder / f"{number}.plinian"
        with plinian.open(place, read_only=True) as log, clock() as reading:
            found = log.pack(file, at=point, around=f"{around}s", release=RELEASE)
        took.append(reading.cpu)
        file.unlink()
    return min(took), found.events

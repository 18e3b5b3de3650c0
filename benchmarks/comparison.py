"""Releases compared: one moment as two releases against one session, and a whole log.

Commands are measured as they are run, with all that they read and print. The peer of a comparison
is the session of the newer of its releases alone, in the same minutes. The time of a check
is the processor time of all its processes, divided by their number: wall-clock time depends on what
else runs on the machine.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from . import stories
from .measure import Result, child

NODES, JOBS = 1_000, 1_000
SESSIONS = 1_000
FEW_SESSIONS = 100
RUNS = 3
"""Times that a moment is compared; the least is reported."""

PAIRS = (("v1.11.0", "v1.12.1"), ("v1.12.1", "v1.13.0"), ("v1.12.1", "v1.15.1"))
ALIKE = ("v1.12.1", "v1.12.4")
"""Releases of one line, which decide the same: the memory of a check is that of any other."""

PROCESSES = 2


class Limits(NamedTuple):
    """What is promised, on two processors."""

    moment: float = 2.0
    seconds: float = 120.0
    memory: float = 1.5


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Compare a moment of 1,000 nodes and 10,000 pods, and check a log of 1,000 sessions."""
    yield from _moment(folder, scale)
    yield from _log(folder, scale)


def _moment(folder: Path, scale: float) -> Iterator[Result]:
    log = str(folder / "moment.db")
    nodes, jobs = max(4, int(NODES * scale)), max(4, int(JOBS * scale))
    stories.write(log, stories.one_moment(nodes, jobs))
    for one, other in PAIRS:
        alone, both = [], []
        for _ in range(RUNS):
            alone.append(_session(log, other))
            both.append(_session(log, one, other))
        least, peer = min(both, key=_cpu), min(alone, key=_cpu)
        yield Result(
            benchmark="compare",
            figure=f"{nodes:,} nodes, {jobs * 10:,} pods: {one} with {other}, to one session",
            value=least["cpu"] / peer["cpu"],
            unit="×",
            limit=Limits().moment,
            note=f"{least['cpu']:.2f} s and {peer['cpu']:.2f} s CPU; {least['rss_mb']:.0f} MB",
        )


def _session(log: str, *releases: str) -> dict[str, float]:
    asked = [text for release in releases for text in ("--release", release)]
    return child("plinian", "session", "--log", log, *asked)


def _cpu(figures: dict[str, float]) -> float:
    return figures["cpu"]


def _log(folder: Path, scale: float) -> Iterator[Result]:
    count = max(20, int(SESSIONS * scale))
    log, short = str(folder / "sessions.db"), str(folder / "short.db")
    child("benchmarks.stories", log, str(count))
    child("benchmarks.stories", short, str(max(10, int(FEW_SESSIONS * scale))))
    for one, other in PAIRS:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        figures = _check(log, one, other, PROCESSES)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        yield Result(
            benchmark="compare",
            figure=f"upgrade-check {one} to {other}, {count:,} sessions, two processes",
            value=cpu / PROCESSES,
            unit="s CPU",
            limit=Limits().seconds * scale,
            note=f"each; {figures['wall']:.0f} s wall",
        )
    few, many = (_check(place, *ALIKE, 1)["rss_mb"] for place in (short, log))
    yield Result(
        benchmark="compare",
        figure=f"peak memory of {count:,} sessions, to that of {FEW_SESSIONS * scale:,.0f}",
        value=many / few,
        unit="×",
        limit=Limits().memory,
        note=f"{many:.0f} MB",
    )


def _check(log: str, one: str, other: str, jobs: int) -> dict[str, float]:
    asked = ("--from", one, "--to", other, "--jobs", str(jobs))
    return child("plinian", "upgrade-check", "--log", log, *asked)

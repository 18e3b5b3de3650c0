"""Belief, a session and drift at any moment of a large log: what is stored for them, and its cost.

Run alone with ``python -m benchmarks stored``: at scale 1 the log has two million events.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from plinian.engine.volcano.session.history import resolve
from plinian.replay.answers.why import why_at
from plinian.replay.belief.belief import belief_at
from plinian.replay.belief.logged_drift import drift_at
from plinian.replay.belief.stored_belief import what_of
from plinian.replay.logs.log import Log, opened
from plinian.replay.sessions.session_answer import session_at

from .build_beliefs import RELEASE
from .measure import Result, child

EVENTS = 2_000_000
ALIVE = 20_000
MOMENTS = 8


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Build a log of two million events, store beliefs, and ask for them at some moments."""
    count = int(EVENTS * scale)
    log = str(folder / "believed.db")
    child("benchmarks.build", log, str(count), str(int(ALIVE * min(1.0, scale * 4))))
    yield from _building(log, count)
    points = _points(count, MOMENTS)
    for command in (("belief", "nodes"), ("session",), ("drift",)):
        yield _cold(log, command, points[:3])
    with opened(log, read_only=True) as opened_log:
        yield _warm("belief", opened_log, points, _believe)
        yield _warm("session", opened_log, points, _decide)
        yield _warm("drift", opened_log, points, _part)
        yield _warm("why", opened_log, points, _wonder)


def _building(log: str, count: int) -> Iterator[Result]:
    built = child("benchmarks.build_beliefs", log)
    with opened(log, read_only=True) as opened_log:
        rows = [row for row in opened_log.store.checkpoints() if what_of(row[5]) != "truth"]
    size = sum(row[4] for row in rows)
    yield Result(
        benchmark="stored",
        figure="storing what schedulers of one release believed, CPU for a million events",
        value=built["cpu"] / count * 1e6,
        unit="s",
        limit=60.0,
        note=f"{built['wall']:.0f} s in all for {count:,} events",
    )
    yield Result(
        benchmark="stored",
        figure="the same, peak memory",
        value=built["rss_mb"],
        unit="MB",
        limit=600.0,
    )
    yield Result(
        benchmark="stored",
        figure="size of what is stored, to the size of the log",
        value=size / Path(log).stat().st_size,
        unit="×",
        limit=0.15,
        note=f"{size / 2**20:.0f} MiB in {len(rows)} rows",
    )


def _points(count: int, number: int) -> list[str]:
    chance = random.Random(11)  # places to look at, the same in every run
    return [f"rv:{1000 + chance.randrange(count // 10, count)}" for _ in range(number)]


def _cold(log: str, command: tuple[str, ...], points: list[str]) -> Result:
    runs = [child("plinian", *command, "--log", log, "--at", point) for point in points]
    return Result(
        benchmark="stored",
        figure=f"plinian {command[0]}, cold process, worst of {len(runs)}",
        value=max(run["wall"] for run in runs),
        unit="s",
        limit=5.0,
        note=f"CPU {max(run['cpu'] for run in runs):.1f} s,"
        f" {max(run['rss_mb'] for run in runs):.0f} MB",
    )


def _warm(what: str, log: Log, points: list[str], ask: Callable[[Log, str], Any]) -> Result:
    ask(log, points[0])
    walls, cpus = [], []
    for point in points:
        wall, cpu = time.perf_counter(), time.process_time()
        ask(log, point)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Result(
        benchmark="stored",
        figure=f"{what} at any moment, warm, worst of {len(points)}",
        value=max(walls),
        unit="s",
        limit=2.0,
        note=f"median {statistics.median(walls):.1f} s; CPU {max(cpus):.1f} s at most",
    )


def _believe(log: Log, point: str) -> None:
    belief_at(log.store, log.moment(point), resolve(RELEASE))


def _decide(log: Log, point: str) -> None:
    session_at(log, point, release=RELEASE)


def _part(log: Log, point: str) -> None:
    drift_at(log.store, log.moment(point), resolve(RELEASE))


def _wonder(log: Log, point: str) -> None:
    """Ask why the first PodGroup that is not running waits, and since when."""
    waiting = (one for one in log.entries("podgroups", at=point) if _waits(one.fact))
    reference = next(waiting).reference
    named = log.object(f"podgroup/{reference.namespace}/{reference.name}")
    why_at(log, named, point, release=RELEASE)


def _waits(fact: object) -> bool:
    return getattr(fact, "phase", "") in {"Pending", "Inqueue"}

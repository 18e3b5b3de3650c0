"""Any moment of a large log, the difference of two, folding speed, verification and memory."""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from plinian.engine.kubernetes.units import format_time
from plinian.engine.log import open_log
from plinian.engine.log.store import LogStore
from plinian.engine.state import Truth
from plinian.replay.histories.diff import diff
from plinian.replay.moments.log_clock import clock_of, store_clock
from plinian.replay.moments.moment import Moment
from plinian.replay.truth.points import resolve
from plinian.replay.truth.truth import truth_at

from .measure import Result, child, clock

EVENTS = 2_000_000
ALIVE = 20_000
TABLES = (("", "Node"), ("scheduling.volcano.sh", "Queue"), ("scheduling.volcano.sh", "PodGroup"))


def run(folder: Path, *, scale: float) -> list[Result]:
    """Build a log of two million events and measure what stands on it."""
    count = int(EVENTS * scale)
    log = str(folder / "large.db")
    built = child("benchmarks.build", log, str(count), str(int(ALIVE * min(1.0, scale * 4))))
    results = [
        Result(
            benchmark="build",
            figure=f"log of {count:,} events with index, peak memory",
            value=built["rss_mb"],
            unit="MB",
            limit=600.0,
            note=f"{built['wall']:.0f} s; {Path(log).stat().st_size / count:.0f} B/event",
        ),
    ]
    results += _cold(log, count)
    with open_log(log) as store:
        results += _seek(store, count)
        results += _clock(store, count)
        results += _verify(store, count)
        results += _fold(store, count)  # the last: it drops the checkpoints
    memory = child("benchmarks.replay", log)
    results.append(
        Result(
            benchmark="memory",
            figure=f"replay of {count:,} events, peak memory",
            value=memory["rss_mb"],
            unit="MB",
            limit=600.0,
            note=f"{memory['wall']:.1f} s",
        )
    )
    return results


def _points(count: int, number: int) -> list[str]:
    chance = random.Random(7)  # places to look at, the same in every run
    return [f"rv:{1000 + chance.randrange(count // 10, count)}" for _ in range(number)]


def _side(store: LogStore, point: str) -> tuple[Moment, Truth]:
    moment = resolve(store, point)
    return moment, truth_at(store, moment)


def _look(store: LogStore, point: str) -> None:
    truth = truth_at(store, resolve(store, point))
    for group, kind in TABLES:
        truth.of(group, kind)


def _seek(store: LogStore, count: int) -> list[Result]:
    times, differences = [], []
    for point in _points(count, 12):
        begin = time.perf_counter()
        _look(store, point)
        times.append(time.perf_counter() - begin)
    points = _points(count, 8)
    for one, other in zip(points[::2], points[1::2], strict=True):
        begin = time.perf_counter()
        diff(store, _side(store, one), _side(store, other))
        differences.append(time.perf_counter() - begin)
    by_time = []
    for point in _times(store, count, 12):
        begin = time.perf_counter()
        _look(store, point)
        by_time.append(time.perf_counter() - begin)
    return [
        Result(
            benchmark="seek",
            figure="any moment, warm, worst of 12",
            value=max(times) * 1e3,
            unit="ms",
            limit=300.0,
            note=f"median {statistics.median(times) * 1e3:.0f} ms",
        ),
        Result(
            benchmark="seek",
            figure="any moment given as a time, warm, worst of 12",
            value=max(by_time) * 1e3,
            unit="ms",
            limit=300.0,
            note=f"median {statistics.median(by_time) * 1e3:.0f} ms",
        ),
        Result(
            benchmark="seek",
            figure="diff of two moments, worst of 4",
            value=max(differences) * 1e3,
            unit="ms",
            limit=1000.0,
            note=f"median {statistics.median(differences) * 1e3:.0f} ms",
        ),
    ]


def _times(store: LogStore, count: int, number: int) -> list[str]:
    clock_of_log = clock_of(store, branch="main", cluster="default")
    found = [clock_of_log.time_of(int(point[3:])) for point in _points(count, number)]
    return [format_time(at) for at in found if at is not None]


def _clock(store: LogStore, count: int) -> list[Result]:
    store.drop_derived(checkpoints=False, facts=False)
    with clock() as building:
        store_clock(store, branch="main", cluster="default")
    return [
        Result(
            benchmark="clock",
            figure=f"building the clock of {count:,} events",
            value=count / building.cpu,
            unit="events/s",
            limit=200_000,
            better="more",
            note=f"{building.wall:.1f} s",
        ),
    ]


def _cold(log: str, count: int) -> list[Result]:
    # As an installer leaves it, also where the environment says not to write compiled modules.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{log}.pycache"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "plinian", "get", "queues", "--log", log, "--at"]
    with open_log(log, read_only=True) as store:
        points = [*_points(count, 3), *_times(store, count, 3)]
    times = []
    subprocess.run([*command, "end"], check=True, capture_output=True, env=environment)
    before = os.times()
    for point in points:
        begin = time.perf_counter()
        subprocess.run([*command, point], check=True, capture_output=True, env=environment)
        times.append(time.perf_counter() - begin)
    after = os.times()
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return [
        Result(
            benchmark="seek",
            figure="plinian get queues --at, cold process, worst of 6, half given as times",
            value=max(times) * 1e3,
            unit="ms",
            limit=1000.0,
            note=f"median {statistics.median(times) * 1e3:.0f} ms;"
            f" CPU {cpu / len(points) * 1e3:.0f} ms",
        ),
    ]


def _fold(store: LogStore, count: int) -> list[Result]:
    from .replay import fold_payloads, fold_sidecar

    with clock() as payloads:
        rows = fold_payloads(store, limit=min(count, 300_000))
    with clock() as sidecar:
        fold_sidecar(store)
    return [
        Result(
            benchmark="fold",
            figure="into truth from payloads",
            value=rows / payloads.cpu,
            unit="events/s",
            limit=60_000,
            better="more",
        ),
        Result(
            benchmark="fold",
            figure="into truth from the fact sidecar",
            value=count / sidecar.cpu,
            unit="events/s",
            limit=300_000,
            better="more",
        ),
    ]


def _verify(store: LogStore, count: int) -> list[Result]:
    with clock() as reading:
        store.verify()
    return [
        Result(
            benchmark="verify",
            figure="events per second and core",
            value=count / reading.cpu,
            unit="events/s",
            limit=200_000,
            better="more",
            note=f"{reading.wall:.1f} s in all",
        ),
    ]

"""Sessions of a scheduler: what they cost by part, how that grows, and the memory they need.

The peer is Volcano itself, whose times were recorded (:mod:`.volcano_times`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from . import clusters
from .clusters import Cluster
from .laps import Laps, Simulated
from .measure import Result, child
from .volcano_times import VOLCANO_CPU

RUNS = 3
"""How often a session is run; the shortest time is reported."""


class Case(NamedTuple):
    """A cluster and the CPU seconds that a session may take on it."""

    name: str
    limit: float | None
    build: Callable[[int, int], Cluster]
    nodes: int
    jobs: int

    def cluster(self, scale: float) -> Cluster:
        """Return the cluster, or a smaller one of its kind."""
        return self.build(max(4, int(self.nodes * scale)), max(4, int(self.jobs * scale)))


CASES = (
    Case("flat, 100 nodes, 1,000 pods", 0.1, clusters.flat, 100, 100),
    Case("tree, 100 nodes, 1,000 pods", 0.1, clusters.tree, 100, 100),
    Case("flat, 1,000 nodes, 10,000 pods", 1.2, clusters.flat, 1_000, 1_000),
    Case("tree, 1,000 nodes, 10,000 pods", 1.2, clusters.tree, 1_000, 1_000),
    Case("flat, 5,000 nodes, 20,000 pods", 6.0, clusters.flat, 5_000, 2_000),
    Case("tree, 5,000 nodes, 20,000 pods", 6.0, clusters.tree, 5_000, 2_000),
    Case("500 nodes, 5,000 pods run, 2,500 evict", 1.2, partial(clusters.full, extra=5), 500, 500),
    Case("500 nodes, 5,000 pods stay, 2,500 wait", 1.2, partial(clusters.full, extra=0), 500, 500),
)

LARGEST = CASES[4]
IDLE_LIMITS = {CASES[2].name: 0.020}
OPENING_LIMITS = {LARGEST.name: 0.010}
MEMORY_LIMIT_MB = 1024.0

STEPS = (1, 2, 4, 8)


class Growth(NamedTuple):
    """Clusters that differ in one number only.

    :param build: from a step and the scale to a cluster.
    """

    by: str
    what: str
    build: Callable[[int, float], Cluster]


GROWTH = (
    Growth("nodes", "5,000 pods on 500 to 4,000", lambda n, s: _flat(500 * n, 500, s)),
    Growth("pods", "1,250 to 10,000 on 2,000 nodes", lambda n, s: _flat(2_000, 125 * n, s)),
    Growth(
        "pods of one job",
        "1,000 to 8,000 on 2,000 nodes",
        lambda n, s: clusters.flat(int(2_000 * s), 1, gang=int(1_000 * n * s), queues=1),
    ),
    Growth(
        "jobs of one pod",
        "1,000 to 8,000 on 1,000 nodes",
        lambda n, s: clusters.flat(int(1_000 * s), int(1_000 * n * s), gang=1),
    ),
    Growth(
        "queues",
        "32 to 256 with 10,240 pods on 1,000 nodes",
        lambda n, s: clusters.flat(int(1_000 * s), int(1_024 * s), queues=32 * n),
    ),
    Growth(
        "pods without a place",
        "2,500 to 20,000 on 20 nodes",
        lambda n, s: _flat(20, 250 * n, s),
    ),
    Growth(
        "pods that may evict no pod, and full nodes",
        "625 to 5,000 on 125 to 1,000 full nodes",
        lambda n, s: clusters.full(int(125 * n * s), int(125 * n * s), extra=0),
    ),
    Growth(
        "pods that may evict no pod",
        "1,250 to 10,000 on 500 full nodes",
        lambda n, s: clusters.full(int(500 * s), int(500 * s), extra=0, waiting=int(125 * n * s)),
    ),
)
GROWTH_LIMIT = 1.15
"""Of the exponent: 1 is linear; the rest is for logarithms and noise."""


def run(_: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Run sessions on clusters of three sizes, with flat queues, trees of queues, and evictions."""
    for case in CASES:
        yield from _case(case, scale)
    for growth in GROWTH:
        yield _growth(growth, scale)
    memory = child("benchmarks.session_memory", str(scale))
    yield Result(
        benchmark="session",
        figure=f"{LARGEST.name}: peak memory, with objects and cache",
        value=memory["rss_mb"],
        unit="MB",
        limit=MEMORY_LIMIT_MB,
        note=f"{memory['cpu']:.1f} s CPU in all",
    )


def _case(case: Case, scale: float) -> Iterator[Result]:
    cluster = case.cluster(scale)
    best: Laps | None = None
    for _ in range(RUNS):
        simulated = Simulated(cluster)
        laps = simulated.session()
        best = laps if best is None or laps.whole < best.whole else best
    assert best is not None
    done = f"{len(best.result.binds)} bound, {len(best.result.evictions)} evicted"
    yield _figure(case.name, best.whole, case.limit and case.limit * scale, f"{done}; ms: {best}")
    recorded = VOLCANO_CPU.get(case.name) if scale == 1 else None
    if recorded is not None and recorded.released and recorded.every_node:
        for how, seconds in zip(recorded._fields, recorded, strict=True):
            yield Result(
                benchmark="session",
                figure=f"{case.name}: Volcano's CPU to ours, {how.replace('_', ' ')}",
                value=seconds / best.whole,
                unit="×",
                note=f"{seconds:.3g} s",
            )
    simulated.answer(laps.result)
    simulated.session()  # takes in what has changed
    idle = min((simulated.session() for _ in range(RUNS)), key=lambda one: one.whole)
    name, opening = f"{case.name}: nothing changed", idle.opening
    yield _figure(name, idle.whole, IDLE_LIMITS.get(case.name), f"ms: {idle}")
    yield _figure(f"{name}, until open", opening, OPENING_LIMITS.get(case.name), "")


def _figure(name: str, seconds: float, limit: float | None, note: str) -> Result:
    return Result(
        benchmark="session",
        figure=name,
        value=seconds * 1e3,
        unit="ms CPU",
        limit=limit and limit * 1e3,
        note=note,
    )


def _flat(nodes: int, jobs: int, scale: float) -> Cluster:
    return clusters.flat(max(4, int(nodes * scale)), max(1, int(jobs * scale)))


def _growth(growth: Growth, scale: float) -> Result:
    points = []
    for step in STEPS:
        cluster = growth.build(step, scale)
        seconds = min(Simulated(cluster).session().whole for _ in range(RUNS))
        points.append((float(step), seconds))
    return Result(
        benchmark="session",
        figure=f"growth with {growth.by}",
        value=slope(points),
        unit="exponent",
        limit=GROWTH_LIMIT,
        note=f"{growth.what}: {', '.join(f'{cpu * 1e3:.0f}' for _, cpu in points)} ms",
    )


def slope(points: list[tuple[float, float]]) -> float:
    """Return the exponent of the power law that fits some (size, time) best."""
    logs = [(math.log(size), math.log(seconds)) for size, seconds in points]
    middle = [sum(column) / len(logs) for column in zip(*logs, strict=True)]
    along = sum((x - middle[0]) ** 2 for x, _ in logs)
    return sum((x - middle[0]) * (y - middle[1]) for x, y in logs) / along

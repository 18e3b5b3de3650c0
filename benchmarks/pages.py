"""The pages and the JSON API of a large log: start, memory, CPU, and moves in a real browser.

Run alone with ``python -m benchmarks pages``: at scale 1 the log has two million events, 5,000
nodes and 20,000 pods. ``python -m benchmarks.pages LOG`` asks a log that exists already.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from plinian.engine.log import open_log

from . import moves
from .large import FAMILIES, NODES
from .measure import Result, child, row
from .served import Server

EVENTS = 2_000_000
ROUNDS = 4
"""How often everything is asked, each time at other moments."""

PAGES = (
    *("", "/jobs", "/queues", "/nodes", "/session", "/compare", "/sessions"),
    *("/queues/over-time", "/nodes/over-time", "/what-if", "/check?over=moment&run=yes"),
    *("/behaviours", "/races", "/help", "?pane=drift&part=panel"),
)
QUESTIONS = (
    *("log", "events?until=@{}", "sessions?until=@{}", "kinds?at=@{}", "state/queues?at=@{}"),
    *("state/nodes?at=@{}", "state/pods?at=@{}", "objects/pods?at=@{}", "session?at=@{}"),
    *("belief?at=@{}", "drift?at=@{}", "releases"),
)
QUICK = ("", "/jobs", "/queues")
"""Pages that need no scheduler's cache."""


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Build a large log and ask it, without and with stored caches of the scheduler."""
    log = folder / "large.db"
    share = min(1.0, scale * 4)
    size = [str(int(count)) for count in (EVENTS * scale, NODES * share, FAMILIES * share)]
    child("benchmarks.large", str(log), *size)
    yield from asked(log, "nothing stored")
    child("benchmarks.build_beliefs", str(log))
    yield from asked(log, "caches stored")


def asked(log: Path, how: str) -> Iterator[Result]:
    """Start a server of a log, and ask everything several times at several moments."""
    with open_log(log, read_only=True) as store:
        last = store.last("main")
    with Server(log) as server:
        yield _result(f"start until it listens, {how}", server.start, "s", 3.0, server.start_cpu)
        yield from _moments(server, last, how)
        yield from moves.measured(server, last, how)


def _moments(server: Server, last: int, how: str) -> Iterator[Result]:
    spent: dict[str, list[float]] = {}
    refused: set[str] = set()
    held: list[float] = []
    for turn in range(ROUNDS):
        for path in (*PAGES, *QUESTIONS):
            at = last * (turn + 1) // (ROUNDS + 1)
            asks = f"/@{at}{path}" if path in PAGES else f"/plinian/v1/{path.format(at)}"
            answer = server.get(asks)
            assert answer.status in {200, 503}, (asks, answer.status)
            if answer.status == 503:
                refused.add(path)
            spent.setdefault(path, []).append(answer.cpu)
        held.append(server.now_mb())
    for path, cpus in spent.items():
        name = f"page {path or '/'}" if path in PAGES else f"question {path.partition('?')[0]}"
        note = "refused at once" if path in refused else f"first {cpus[0] * 1000:,.0f} ms"
        yield Result(
            benchmark="pages",
            figure=f"{name}, {how}, CPU",
            value=statistics.median(cpus) * 1000,
            unit="ms",
            limit=150.0 if path in QUICK else None,
            note=note,
        )
    yield _result(f"peak memory, {how}", server.peak_mb(), "MB", 300.0, None)
    growth = held[-1] / held[len(held) // 2 - 1]
    note = ", ".join(f"{one:.0f}" for one in held)
    yield Result(
        benchmark="pages",
        figure=f"memory after all rounds, to that after half of them, {how}",
        value=growth,
        unit="×",
        limit=1.1,
        note=f"{note} MB after each",
    )


def _result(figure: str, value: float, unit: str, limit: float, cpu: float | None) -> Result:
    note = "" if cpu is None else f"CPU {cpu:.2f} s"
    return Result(benchmark="pages", figure=figure, value=value, unit=unit, limit=limit, note=note)


if __name__ == "__main__":
    for one in asked(Path(sys.argv[1]), "as it is"):
        print(row(one), flush=True)

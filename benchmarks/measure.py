"""Measuring: CPU time, ratios within one run, peak memory of a child process."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec


class Result(msgspec.Struct, kw_only=True):
    """One figure and its limit.

    :param better: ``less`` or ``more``: which side of the limit is good.
    :param limit: None where the figure is reported only.
    """

    benchmark: str
    figure: str
    value: float
    unit: str
    limit: float | None = None
    better: str = "less"
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the figure keeps its limit."""
        if self.limit is None:
            return True
        return self.value <= self.limit if self.better == "less" else self.value >= self.limit


class Clock(msgspec.Struct):
    """CPU and wall seconds of a stretch of work, filled in when it ends."""

    cpu: float = 0.0
    wall: float = 0.0


@contextmanager
def clock() -> Iterator[Clock]:
    """Time the body in CPU seconds of this process (all threads) and in wall seconds."""
    gc.collect()
    reading = Clock()
    cpu, wall = time.process_time(), time.perf_counter()
    yield reading
    reading.cpu = time.process_time() - cpu
    reading.wall = time.perf_counter() - wall


_CHILD = """
import json, resource, runpy, sys, time
begin = time.perf_counter()
sys.argv = json.loads(sys.argv[1])
try:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
except SystemExit as end:
    if end.code:
        raise
usage = resource.getrusage(resource.RUSAGE_SELF)
try:  # ru_maxrss of Linux counts what the parent held when it started this process.
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
except OSError:
    peak = usage.ru_maxrss
print(json.dumps({"rss_mb": peak / 1024, "cpu": usage.ru_utime + usage.ru_stime,
                  "wall": time.perf_counter() - begin}), file=sys.stderr)
"""


def child(module: str, *arguments: str) -> dict[str, float]:
    """Run a module in a fresh process; return its peak memory (MB), CPU and wall seconds.

    :raises RuntimeError: it failed; the message holds the end of its stderr.
    """
    run = subprocess.run(
        [sys.executable, "-c", _CHILD, json.dumps([module, *arguments])],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"{module} {' '.join(arguments)}: {run.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(run.stderr.splitlines()[-1])
    return figures


def row(result: Result) -> str:
    """Return one line of the report."""
    if not result.unit:
        return f"{'–':4} {result.benchmark:8} {result.figure}"
    sign = {"less": "<=", "more": ">="}[result.better]
    limit = f"{sign} {result.limit:,.6g}" if result.limit is not None else ""
    verdict = "ok" if result.met else "MISS"
    value = f"{result.value:,.3g}" if result.value < 100 else f"{result.value:,.0f}"
    return (
        f"{verdict:4} {result.benchmark:8} {result.figure:62} {value:>10} {result.unit:9}"
        f"{limit:12} {result.note}"
    )

"""What would help a job that waits in a large cluster: sessions with changes, until it starts.

The peer is one session, with the scheduler's cache from the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import plinian

from . import why
from .measure import Result, clock

LIMIT = 30.0
ASKED = ("podgroup/ml/waits-3", "pod/ml/waits-3-1")
BUDGET = "5m"
"""More than the limit, so that all changes are tried."""


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Ask what would help; at scale 1 among 5,000 nodes and 20,000 pods."""
    log_place = why.written(folder, scale)
    with plinian.open(log_place, read_only=True) as log:
        with clock() as alone:
            log.session(release=why.RELEASE)
        for named in ASKED:
            with clock() as took:
                found = log.what_would_help(named, release=why.RELEASE, budget=BUDGET)
            assert found.left == 0, "all changes were tried"
            yield Result(
                benchmark="help",
                figure=f"`why {named} --what-would-help`, {int(why.NODES * scale):,} nodes",
                value=took.cpu,
                unit="s CPU",
                limit=LIMIT,
                note=f"{found.tried} changes tried, {len(found.found)} help; the cache and one "
                f"session {alone.cpu:.2f} s",
            )

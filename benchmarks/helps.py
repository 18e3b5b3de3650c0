"""What would help a job that waits in a large cluster: sessions with changes, within a budget.

The command stops after 30 s by default. A change that has begun by then is tried to its end. The
peer is one session, with the scheduler's cache from the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import plinian

from . import why
from .measure import Result, clock

LIMIT = 30.0
ASKED = ("podgroup/ml/waits-3", "pod/ml/waits-3-1")
BUDGET = "30s"
"""That of the command."""


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Ask what would help; at scale 1 among 5,000 nodes and 20,000 pods."""
    log_place = why.written(folder, scale)
    with plinian.open(log_place, read_only=True) as log:
        with clock() as alone:
            log.session(release=why.RELEASE)
        for named in ASKED:
            with clock() as took:
                found = log.what_would_help(named, release=why.RELEASE, budget=BUDGET)
            assert found.tried, "there is time for a change"
            yield Result(
                benchmark="help",
                figure=f"`why {named} --what-would-help`, {int(why.NODES * scale):,} nodes",
                value=took.wall,
                unit="s",
                limit=LIMIT,
                note=f"{found.tried} of {found.tried + found.left} changes tried, "
                f"{len(found.found)} help; the cache and one session {alone.wall:.2f} s",
            )

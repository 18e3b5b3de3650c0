"""Plots of a large log, each compared with reading the same log once and decoding each object.

The log has 1,000 sessions of 100 nodes and 1,500 pods, of which ten come and ten go every second.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

import plinian
from plinian.engine.events import Event
from plinian.engine.kubernetes.units import SECOND_US, format_time
from plinian.replay.plot.asked import GANG, KINDS

from . import stories
from .measure import Result, clock
from .replay import fold_payloads

SESSIONS = 1_000
LIMIT = 5.0
RUNS = 3
"""Times that each is measured; the least is reported."""

_CREATED = re.compile(rb'"creationTimestamp":"[^"]*"')


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Draw each plot in characters."""
    place = str(folder / "log.db")
    count = max(20, int(SESSIONS * scale))
    stories.write(place, _dated(stories.sessions(count)))
    with plinian.open(place, read_only=True) as log:
        group = log.get("podgroups")[0]["metadata"]["name"]
        reading = min(_read(log) for _ in range(RUNS))
        for what in KINDS:
            names = [f"podgroup/{group}"] if what == GANG else []
            seconds = min(_drawn(log, what, names) for _ in range(RUNS))
            yield Result(
                benchmark="plot",
                figure=f"`plot {what}`, {count:,} sessions, compared with decoding all objects",
                value=seconds / reading,
                unit="×",
                limit=LIMIT,
                note=f"{seconds:.2f} s CPU, decoding {reading:.2f} s; "
                f"{log.store.last(log.branch):,} events",
            )


def _dated(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events of a story, with objects that are created when they come."""
    for event in events:
        if not event.kind.endswith(".created") or event.latest is None:
            yield event
            continue
        time = format_time(event.latest - event.latest % SECOND_US)
        created = f'"creationTimestamp":"{time}"'.encode()
        yield msgspec.structs.replace(event, payload=_CREATED.sub(created, event.payload, count=1))


def _read(log: plinian.Log) -> float:
    with clock() as took:
        fold_payloads(log.store, limit=log.store.last(log.branch))
    return took.cpu


def _drawn(log: plinian.Log, what: str, names: list[str]) -> float:
    with clock() as took:
        text = log.plot(what, names).text()
    assert "each step" in text or "line: shortest" in text, text
    return took.cpu

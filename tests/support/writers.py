"""What writers in processes of their own do: in a module that a fresh process can import."""

from __future__ import annotations

import time
from pathlib import Path

from pods import message, pods

from plinian.engine.log import LogStore, open_log

WRITERS = 8
BATCHES = 10
EVENTS = 20_000


def append_all(place: str, writer: str) -> None:
    """Append a writer's batches to the log at a place."""
    with open_log(place) as log:
        append_with(log, int(writer))


def append_with(log: LogStore, writer: int) -> None:
    """Append a writer's batches: half of the versions are everybody's, half its own."""
    for batch in range(BATCHES):
        start = batch * 20
        shared = pods(*range(start, start + 10))
        own = pods(*range(start, start + 10), cluster=f"cluster-{writer}")
        log.append([*shared, *own, message(f"{writer}/{batch}")])


def found(place: str) -> None:
    """Found a log, or open it if somebody else was first, and append one event that all know."""
    with open_log(place, create=True) as log:
        log.append([message("founded")])


def found_at(place: str, ready: str, go: str) -> None:
    """Found a log, or open it if somebody else was first, when all are there.

    :param ready: a file to make. :param go: a file to wait for.
    """
    Path(ready).touch()
    while not Path(go).exists():
        time.sleep(0.0005)
    with open_log(place, create=True) as log:
        assert log.last() == 0


def append_many(place: str) -> None:
    """Append everything, as a command would that is run again and again."""
    with open_log(place, create=True) as log:
        print("opened", flush=True)
        for start in range(0, EVENTS, 100):
            log.append([*pods(*range(start, start + 99)), message(str(start))])
        print("done", flush=True)

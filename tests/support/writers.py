"""What writers in processes of their own do: in a module that a fresh process can import."""

from __future__ import annotations

from pods import message, pods

from plinian.engine.log import LogStore, open_log

WRITERS = 8
BATCHES = 10


def append_all(place: str, writer: int) -> None:
    """Append a writer's batches to the log at a place."""
    with open_log(place) as log:
        append_with(log, writer)


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

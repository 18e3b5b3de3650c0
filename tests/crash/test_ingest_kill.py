"""Kill -9 during ``plinian ingest``: the log verifies, and the same command completes it."""

from __future__ import annotations

import hashlib
import os
import random
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from forking import COMMAND, Forked, Forking

import plinian
from plinian.engine.log import Query, open_log
from plinian.engine.log.migrating import downgrade

KILLS = int(os.environ.get("PLINIAN_KILLS", "8"))
SEED = int(os.environ.get("PLINIAN_KILL_SEED", "7"))
RECORDING = Path(__file__).parents[2] / "replay" / "recordings" / "quickstart"


class Content(NamedTuple):
    """What two logs of the same inputs must agree on, however often the work was interrupted."""

    last: int
    events: str
    digests: tuple[str, ...]
    ends: frozenset[int]
    """Positions at which a batch of the undisturbed ingest ends."""


def start(fresh: Forking, place: str) -> Forked:
    """Start the ingest of the recording that Plinian ships."""
    return fresh.start(COMMAND, "ingest", str(RECORDING), "--log", place)


def complete(fresh: Forking, place: str) -> None:
    """Run the ingest to its end."""
    process = start(fresh, place)
    assert process.wait() == 0, process.stderr


def content(place: str) -> Content:
    """Return what a log holds: every event, and the state at its end and in its middle."""
    events = hashlib.sha256()
    end_of: dict[int, int] = {}
    with plinian.open(place) as log:
        last = log.store.last()
        for position, recorded in enumerate(log.store.read(Query()), start=1):
            assert recorded.position == position, "positions have a gap"
            events.update(repr(recorded.event).encode())
            end_of[recorded.recorded_at] = position  # All events of a batch have one such time.
        digests = tuple(log.digest(at) for at in ("end", f"@{last // 2}", "rv:1000"))
    return Content(last, events.hexdigest(), digests, frozenset({0, *end_of.values()}))


def held_over(place: str, whole: Content) -> int:
    """Hold what a killed ingest left over against what may be there; return how much it is."""
    with open_log(place, create=True) as log:
        last = log.last()
        assert log.verify().events == last
        assert last in whole.ends, "part of a batch is in the log"
        return last


def empty(place: str) -> None:
    """Take everything out of a log, its tables too."""
    downgrade(place, "base")


@pytest.mark.slow
def test_an_ingest_that_is_killed_again_and_again_ends_as_one_that_is_not(
    log_place: str, fresh: Forking
) -> None:
    chooser = random.Random(SEED)
    begun = time.monotonic()
    complete(fresh, log_place)
    seconds = time.monotonic() - begun
    whole = content(log_place)
    empty(log_place)
    in_the_middle, lengths = 0, []
    # Each kill has its own part of the run, from the first read to the last checkpoint.
    for kill, part in enumerate(chooser.sample(range(KILLS), KILLS)):
        process = start(fresh, log_place)
        reached = (part + chooser.random()) / KILLS
        # Most of the time is reading, but appending and indexing are what can leave something.
        time.sleep(seconds * (reached if kill % 3 == 0 else 0.5 + reached / 2))
        while process.poll() is not None and seconds > 0.1:
            # The machine is less busy than it was when the run was timed: try again, and sooner.
            seconds *= 0.7
            empty(log_place)
            process = start(fresh, log_place)
            time.sleep(seconds * reached)
        in_the_middle += process.poll() is None
        process.kill()
        lengths.append(held_over(log_place, whole))
        if kill % 4 == 3:
            complete(fresh, log_place)
            assert content(log_place) == whole, f"seed {SEED}, kill {kill}, at {lengths[-1]}"
        # Every other killed log is gone on with, so that kills hit what kills left, too.
        if kill % 2 or lengths[-1] == whole.last:
            empty(log_place)
    complete(fresh, log_place)
    assert content(log_place) == whole
    assert in_the_middle > KILLS // 2, "the work was done before it could be killed"
    print(f"{in_the_middle} of {KILLS} were killed at work, with so much done: {sorted(lengths)}")

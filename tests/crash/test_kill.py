"""Kill -9 at random moments: the log verifies, and the same work completes it."""

from __future__ import annotations

import os
import random
import time

import pytest
from forking import Forking
from pods import pods

from plinian.engine.log import Query, open_log
from plinian.engine.log.migrating import downgrade
from writers import EVENTS

KILLS = int(os.environ.get("PLINIAN_KILLS", "15"))


def check_part(place: str, seed: int) -> bool:
    """Hold a log that a writer was killed over against what may be in it; say if it is complete."""
    with open_log(place, create=True) as log:
        last = log.last()
        assert last % 100 == 0, f"seed {seed}: part of a batch is in the log"
        assert log.verify().events == last, f"seed {seed}"
        return last == EVENTS


def check_whole(place: str) -> None:
    """Hold a completed log against what it must contain."""
    with open_log(place) as log:
        assert log.verify().events == EVENTS
        assert [r.position for r in log.read(Query())] == list(range(1, EVENTS + 1))
        revisions = {r.event.revision for r in log.read(Query(kinds=("pod.updated",)))}
        assert len(revisions) == EVENTS * 99 // 100
        assert log.append(pods(*range(99))).known == 99


@pytest.mark.slow
def test_a_killed_append_is_whole_and_can_be_gone_on_with(log_place: str, fresh: Forking) -> None:
    seed = int(os.environ.get("PLINIAN_KILL_SEED", "7"))
    chooser = random.Random(seed)
    in_the_middle = 0
    for kill in range(KILLS):
        process = fresh.start("writers:append_many", log_place)
        if kill % 5:
            # Most kills hit the appending, every fifth also founding and opening.
            while not process.stdout and process.poll() is None:
                time.sleep(0.001)
            time.sleep(chooser.uniform(0, 0.25))
        else:
            time.sleep(chooser.uniform(0, 0.3))
        in_the_middle += process.poll() is None
        process.kill()
        if check_part(log_place, seed):
            check_whole(log_place)
            downgrade(log_place, "base")
    assert in_the_middle > KILLS // 2, "the work is done before it can be killed: make it longer"
    assert fresh.start("writers:append_many", log_place).wait() == 0
    check_whole(log_place)

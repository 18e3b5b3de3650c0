"""Work done by several processes comes back in order, and so do its errors."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from plinian.engine.errors import PlinianError, UsageError
from plinian.engine.volcano.releases import parse_release
from plinian.replay import parallel
from plinian.replay.parallel import _without_interrupts, run_all


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_the_tasks(jobs: int) -> None:
    told: list[tuple[int, int]] = []
    found = list(run_all(abs, range(-4, 1), jobs=jobs, progress=lambda *at: told.append(at)))
    assert found == [4, 3, 2, 1, 0]
    assert told == [(done, 5) for done in range(1, 6)]
    assert list(run_all(abs, [], jobs=jobs)) == []


def test_who_waits_for_processes_hears_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_EVERY_SECONDS", 0.001)  # A process takes longer to start.
    told: list[str] = []
    found = list(run_all(abs, [-1, -2], jobs=2, waiting=lambda: told.append("waits")))
    assert found == [1, 2]
    assert told


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_keeps_what_it_says(jobs: int) -> None:
    results = run_all(parse_release, ["v1.12.1", "next", "v1.8.2"], jobs=jobs)
    assert str(next(results)) == "v1.12.1"
    with pytest.raises(PlinianError) as caught:
        next(results)
    with pytest.raises(UsageError) as here:
        parse_release("next")
    assert (caught.value.what, caught.value.now) == (here.value.what, here.value.now)


def test_interrupts_wait_until_all_processes_are_started() -> None:
    """Another thread may take one from the system, and Python then runs our handler at once."""
    done, began = threading.Event(), []
    beside = threading.Thread(target=done.wait)
    beside.start()

    def interrupted() -> None:
        with _without_interrupts():
            began.append("first")
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            began.append("last")

    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        done.set()
        beside.join()
    assert began == ["first", "last"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())

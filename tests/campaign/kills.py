"""Ingests that die: killed at any time, with a torn end of the file, or with the disk full.

Whatever is left must verify, and the same command must complete it to what an undisturbed ingest
makes. The same seed gives the same attacks; when they strike depends on the machine.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from processes import PLINIAN

import plinian
from plinian.engine.errors import PlinianError
from plinian.engine.log import open_log

RECORDING = Path(__file__).parents[2] / "replay" / "recordings" / "quickstart"
ATTACKS = ("kill", "tear", "full")
_PATIENCE = 300
"""Seconds after which an ingest hangs; it takes one or two."""


class Figures(NamedTuple):
    """What a campaign found. :param failures: a line for each log that was not whole afterwards."""

    runs: int
    by_attack: dict[str, int]
    failures: tuple[str, ...]


class _Whole(NamedTuple):
    """What an undisturbed ingest makes, and how long it took in seconds."""

    events: int
    digests: tuple[str, ...]
    took: float
    size: int


def _start(place: Path, most_bytes: int | None = None) -> subprocess.Popen[bytes]:
    def limit() -> None:
        if most_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    return subprocess.Popen(
        [*PLINIAN, "ingest", str(RECORDING), "--log", str(place)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=limit,  # noqa: PLW1509 -- no threads are at work here
    )


def _complete(place: Path) -> tuple[int, tuple[str, ...]]:
    process = _start(place)
    _, written = process.communicate(timeout=_PATIENCE)
    if process.returncode:
        raise AssertionError(f"the ingest did not complete: {written.decode()[:300]}")
    with plinian.open(place) as log:
        return log.store.last(), tuple(log.digest(at) for at in ("end", "rv:1000"))


def _die(attack: str, place: Path, whole: _Whole, chance: random.Random) -> str:
    """Let an ingest die; return what was wrong with its end, empty if nothing was."""
    if attack == "full":
        process = _start(place, chance.randrange(1, whole.size))
        _, written = process.communicate(timeout=_PATIENCE)
        said = written.decode()
        if "Traceback" in said or process.returncode not in {0, 2}:
            return f"with the disk full it ended with {process.returncode}: {said[:200]}"
        return ""
    process = _start(place)
    time.sleep(chance.random() * whole.took)
    process.kill()
    process.communicate(timeout=_PATIENCE)
    log = Path(f"{place}-wal")
    if attack == "tear" and log.exists() and log.stat().st_size:
        os.truncate(log, chance.randrange(log.stat().st_size))
    return ""


def _fault_left(place: Path, whole: _Whole) -> str:
    """Say what is wrong with what an ingest left, and with its completion; empty if nothing is."""
    try:
        if place.exists():
            with open_log(place, create=True) as store:
                store.verify()
        found = _complete(place)
    except (PlinianError, AssertionError, subprocess.TimeoutExpired) as fault:
        return f"{type(fault).__name__}: {fault}"
    return "" if found == (whole.events, whole.digests) else f"another end: {found[0]} events"


def run(seed: int = 1, count: int = 30, seconds: float = 60.0) -> Figures:
    """Let ingests die; the same attacks for the same seed.

    :param count: how many at most. :param seconds: after which none is begun.
    """
    until = time.monotonic() + seconds
    done: Counter[str] = Counter()
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="plinian-campaign-") as name:
        begun = time.monotonic()
        undisturbed = Path(name) / "whole.db"
        events, digests = _complete(undisturbed)
        took = time.monotonic() - begun
        whole = _Whole(events, digests, took, undisturbed.stat().st_size)
        for number in range(count):
            if time.monotonic() > until:
                break
            chance = random.Random(f"{seed}/{number}")
            attack = ATTACKS[number % len(ATTACKS)]
            folder = Path(name) / str(number)
            folder.mkdir()
            place = folder / "log.db"
            fault = _die(attack, place, whole, chance) or _fault_left(place, whole)
            done[attack] += 1
            if fault:
                failures.append(f"{attack} {seed}/{number}: {fault}")
            shutil.rmtree(folder)
    return Figures(done.total(), dict(done), tuple(failures))

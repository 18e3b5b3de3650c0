"""Flip bits in copies of a log's file: verification fails, or every answer is as before.

The same seed flips the same bits of the same log. Each copy is verified; only where that says that
all is well are the questions asked, and compared with what the original answers.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import plinian
from plinian.engine.errors import PlinianError
from plinian.engine.log import LogStore, Query, open_log
from plinian.replay.facade.log import Log
from plinian.replay.truth.truth import build_index

Asked = Callable[[Log], Any]

_MAIN, _LATE = 1400, 1460
"""Of the recording that comes with Plinian: where the main branch ends, and where the other one."""

_SELDOM = ("decision.", "action.", "session.", "message.", "event.", "request.", "cleanup.")
"""Kinds of which an eighth will do."""

_WITHOUT = ("cache.dumped",)
"""A dump is larger than all the rest."""

MIDDLE = "rv:365"
"""A moment between the first stored state and the end."""

QUESTIONS: tuple[Asked, ...] = (
    lambda log: plinian.document(list(log.events()), payload=True),
    lambda log: plinian.document(list(log.events(kinds="pod.*", newest_first=True, limit=9))),
    *(
        lambda log, kind=kind, at=at: log.get(kind, at=at)
        for kind in ("pods", "nodes", "podgroups", "queues", "jobs", "namespaces")
        for at in ("end", MIDDLE)
    ),
    *(
        lambda log, name=name: plinian.document(log.history(name))
        for name in ("node/node-1", "queue/gold", "pod/train-a-worker-0", "podgroup/train-a")
    ),
    lambda log: plinian.document(log.diff(MIDDLE, "end")),
    lambda log: plinian.document(log.diff("@200", "@300")),
    *(lambda log, at=at: log.digest(at) for at in ("end", MIDDLE, "@150", "@250", "@350")),
    lambda log: plinian.document(log.session(), trace=True),
    lambda log: plinian.document(log.session(at=MIDDLE)),
)
"""What is asked of every copy, on both branches."""


class Figures(NamedTuple):
    """What became of the bits.

    :param flipped: in so many copies, one bit each. :param refused: verification, or opening the
        log, failed with a message. :param same: verification passed, and so did every answer.
    :param remarked: of these, so many came with a remark on damaged derived rows.
    :param wrong: places of bits with which verification passed and an answer differed or failed.
    :param fallen: places at which something else than an error of Plinian was raised.
    """

    flipped: int
    refused: int
    same: int
    remarked: int
    wrong: tuple[str, ...]
    fallen: tuple[str, ...]
    seconds: float

    @property
    def text(self) -> str:
        """One line for people."""
        return (
            f"bit flips: {self.flipped} bits, {self.refused} refused, {self.same} with the same"
            f" answers ({self.remarked} with a remark), {len(self.wrong)} wrong answers,"
            f" {len(self.fallen)} tracebacks, {self.seconds:.0f} s"
        )


def make_log(place: Path, events: Sequence[Any], late: Sequence[Any]) -> None:
    """Make a small log that has all kinds of rows: branches, a checkpoint, blocks of the index.

    :param events: for ``main``, in three batches. :param late: for a branch.
    """
    third = max(1, len(events) // 3)
    with open_log(place, create=True) as store:
        for start in range(0, len(events), third):
            store.append(events[start : start + third])
        store.create_branch("what-if", fork=third)
        store.append(late, branch="what-if")
        for branch in ("main", "what-if"):
            build_index(
                store, branch=branch, cluster="default", block_rows=32, checkpoint_events=64
            )


def recorded_log(folder: Path) -> Path:
    """Make such a log of the begin of the recording that comes with Plinian."""
    place = folder / "recorded.db"
    with plinian.demo(folder / "demo.db") as demo:
        whole = list(demo.store.read(Query(limit=_LATE)))
    told = [
        each.event
        for each in whole
        if not each.event.kind.startswith(_WITHOUT)
        and (each.position % 8 == 0 or not each.event.kind.startswith(_SELDOM))
    ]
    late = len([each for each in whole if each.position > _MAIN])
    make_log(place, told[:-late], told[-late:])
    return place


def answers(store: LogStore, asked: Sequence[Asked]) -> list[Any]:
    """Return what a log answers to some questions; an error of Plinian is an answer too."""
    found: list[Any] = []
    for branch in ("main", "what-if"):
        log = Log("copy.db", store, branch=branch, cluster=None)
        for ask in asked:
            try:
                found.append(ask(log))
            except PlinianError as fault:
                found.append((type(fault).__name__, fault.what))
    return found


def flip_bits(
    original: Path,
    folder: Path,
    asked: Sequence[Asked],
    *,
    seed: int,
    count: int,
    seconds: float,
) -> Figures:
    """Flip single bits of a log's file, each in a copy of its own.

    :param original: a closed log with branches ``main`` and ``what-if``. :param folder: for copies.
    :param count: of bits. :param seconds: after which no more are flipped.
    """
    begun = time.monotonic()
    whole = original.read_bytes()
    with open_log(original, read_only=True) as store:
        expected = answers(store, asked)
    counts: Counter[str] = Counter()
    kept: dict[str, list[str]] = {"wrong": [], "fallen": []}
    for offset, bit in _bits(len(whole), seed=seed, count=count):
        if time.monotonic() - begun > seconds:
            break
        copy = folder / "copy.db"
        _write(copy, whole, offset, bit)
        found, why = _outcome(copy, asked, expected)
        counts["flipped"] += 1
        counts[found] += 1
        if found in kept:
            kept[found].append(f"byte {offset} bit {bit}: {why}")
        elif found == "same" and why:
            counts["remarked"] += 1
    return Figures(
        flipped=counts["flipped"],
        refused=counts["refused"],
        same=counts["same"],
        remarked=counts["remarked"],
        wrong=tuple(kept["wrong"]),
        fallen=tuple(kept["fallen"]),
        seconds=time.monotonic() - begun,
    )


def _bits(size: int, *, seed: int, count: int) -> Iterator[tuple[int, int]]:
    chance = random.Random(seed)
    for _ in range(count):
        yield chance.randrange(size), chance.randrange(8)


def _write(copy: Path, whole: bytes, offset: int, bit: int) -> None:
    for side in ("-wal", "-shm"):
        copy.with_name(copy.name + side).unlink(missing_ok=True)
    damaged = bytearray(whole)
    damaged[offset] ^= 1 << bit
    copy.write_bytes(damaged)


def _outcome(copy: Path, asked: Sequence[Asked], expected: list[Any]) -> tuple[str, str]:
    remarks: list[str] = []
    try:
        with open_log(copy, read_only=True, remark=remarks.append) as store:
            try:
                remarks += store.verify().damaged
            except PlinianError:
                return "refused", ""
            found = answers(store, asked)
    except PlinianError:
        return "refused", ""
    except Exception as fault:  # noqa: BLE001 -- a traceback is what is looked for
        return "fallen", f"{type(fault).__name__}: {fault}"
    return ("same", "; ".join(remarks)) if found == expected else ("wrong", _part(found, expected))


def _part(found: list[Any], expected: list[Any]) -> str:
    """Return where two lists of answers part."""
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one != other:
            return f"answer {place}: {str(one)[:200]}"
    return ""

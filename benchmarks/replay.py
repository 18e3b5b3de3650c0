"""Fold a whole log into truth; run as a module, so that its memory is its own.

python -m benchmarks.replay LOG
"""

from __future__ import annotations

import sys

from plinian.engine.events import Effect
from plinian.engine.log import open_log
from plinian.engine.log.store import FoldWindow, LogStore
from plinian.engine.state.extract import extract_fact
from plinian.replay.moments.moment import Moment
from plinian.replay.truth.points import resolve
from plinian.replay.truth.truth import truth_at


def fold_payloads(store: LogStore, *, limit: int) -> int:
    """Decode the payload of every event up to a position into its fact; return how many."""
    window = FoldWindow(cluster="default", known=limit)
    rows = 0
    latest = {}
    for chunk in store.scan(window):
        references = store.references(sorted(set(chunk.objects.tolist())))
        numbers, effects = chunk.objects.tolist(), chunk.effects.tolist()
        for row, (number, effect) in enumerate(zip(numbers, effects, strict=True)):
            if effect == Effect.VERSION:
                reference = references[number]
                latest[number] = extract_fact(reference.group, reference.kind, chunk.load(row))
            elif effect == Effect.DELETED:
                latest.pop(number, None)
        rows += len(numbers)
    return rows


def fold_sidecar(store: LogStore) -> None:
    """Fold the whole log from the fact sidecar, without checkpoints, and decode what lives."""
    store.drop_derived(checkpoints=True, facts=False)
    truth = truth_at(store, resolve(store, "end"))
    truth.entries()


def main(log: str) -> None:
    """Fold all of a log without sidecar and checkpoints."""
    with open_log(log) as store:
        moment: Moment = resolve(store, "end")
        truth = truth_at(store, moment, use_checkpoints=False)
        print(f"{len(truth)} objects at {moment.label}")
        for group, kind in truth.kinds():
            truth.of(group, kind)


if __name__ == "__main__":
    main(sys.argv[1])

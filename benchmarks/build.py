"""Build a large log from the corpus; run as a module, so that its memory is its own.

python -m benchmarks.build LOG EVENTS ALIVE
"""

from __future__ import annotations

import sys

from plinian.engine.log import open_log
from plinian.replay.truth.truth import build_index

from . import corpus


def main(log: str, events: int, alive: int) -> None:
    """Append so many events of a cluster of about ``alive`` objects, and index the log."""
    with open_log(log, create=True) as store:
        for batch in corpus.batches(corpus.watch_lines(events, alive=alive, managed_fields=False)):
            store.append(batch)
        build_index(store, cluster="default")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

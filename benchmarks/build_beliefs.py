"""Store what schedulers believed in a log; run as a module, so that its memory is its own.

python -m benchmarks.build_beliefs LOG
"""

from __future__ import annotations

import gc
import sys

from plinian.engine.log import open_log
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief.stored_belief import build_beliefs
from plinian.replay.cli.main import GARBAGE

RELEASE = "v1.12.1"


def main(log: str) -> None:
    """Store beliefs up to the end of the log."""
    gc.set_threshold(*GARBAGE)
    with open_log(log) as store:
        build_beliefs(store, resolve(RELEASE), branch="main", cluster="default")


if __name__ == "__main__":
    main(sys.argv[1])

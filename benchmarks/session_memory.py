"""Build the largest cluster and run a session, in a separate process, to measure its memory."""

from __future__ import annotations

import gc
import sys

from plinian.replay.cli.main import GARBAGE

from .laps import Simulated
from .session import LARGEST

if __name__ == "__main__":
    gc.set_threshold(*GARBAGE)
    Simulated(LARGEST.cluster(float(sys.argv[1]))).session()

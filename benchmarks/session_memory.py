"""Build the largest cluster and run a session on it: in a process of its own, for its memory."""

from __future__ import annotations

import gc
import sys

from .laps import Simulated
from .session import LARGEST

if __name__ == "__main__":
    gc.set_threshold(100_000, 50, 50)
    Simulated(LARGEST.cluster(float(sys.argv[1]))).session()

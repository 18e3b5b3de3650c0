"""An ingest in a process that cannot have much memory, and says how much it had."""

from __future__ import annotations

import resource
from pathlib import Path

from plinian.engine.errors import PlinianError
from plinian.replay.ingest.ingest_run import IngestOptions, ingest_at

MOST = 2 * 2**30


def ingest_limited(place: str, path: str, skip: str) -> None:
    """Ingest a file, and print the most KiB that this process had, and what was wrong."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    fault = ""
    try:
        ingest_at(place, [path], IngestOptions(skip_malformed=skip == "skip"))
    except PlinianError as told:
        fault = f"{type(told).__name__}: {told}"
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    status = dict(line.split(":", 1) for line in lines)
    print(status["VmHWM"].split()[0], fault[:300])

"""A 3 GB audit log: memory and CPU of ingesting it.

python -m benchmarks.audit FILE LOG      (the child: ingest, and nothing else)
"""

from __future__ import annotations

import lzma
import sys
from importlib.resources import files
from pathlib import Path

from plinian.engine.log import open_log
from plinian.replay.ingest.ingest_run import IngestOptions, ingest

from .measure import Result, child

GIGABYTES = 3.0


def run(folder: Path, *, scale: float) -> list[Result]:
    """Multiply the recorded audit log to three gigabytes and ingest it in a child."""
    source = folder / "audit.log"
    lines = write_audit_log(source, int(GIGABYTES * scale * 1e9))
    figures = child("benchmarks.audit", str(source), str(folder / "audit.db"))
    size = source.stat().st_size
    source.unlink()
    return [
        Result(
            benchmark="memory",
            figure=f"ingest of a {size / 1e9:.1f} GB audit log, peak memory",
            value=figures["rss_mb"],
            unit="MB",
            limit=600.0,
            note=f"{figures['wall']:.0f} s, {figures['cpu'] / lines * 1e6:.0f} µs CPU a line",
        ),
    ]


def write_audit_log(path: Path, size: int) -> int:
    """Write copies of the recorded audit log, each with other identities; return the lines."""
    recorded = files("plinian.replay") / "recordings" / "quickstart" / "audit.log.xz"
    lines = lzma.decompress(recorded.read_bytes()).splitlines()
    written = count = copy = 0
    with path.open("wb") as out:
        while written < size:
            copy += 1
            for line in lines:
                shifted = _shifted(line, copy)
                written += out.write(shifted + b"\n")
                count += 1
                if written >= size:
                    break
    return count


def _shifted(line: bytes, copy: int) -> bytes:
    """Give a copy's line uids and resourceVersions that no other copy has."""
    line = line.replace(b'"uid":"', b'"uid":"%04x' % copy)
    marker = b'"resourceVersion":"'
    head, *rest = line.split(marker)
    parts = [head]
    for part in rest:
        digits, quote, tail = part.partition(b'"')
        if digits.isdigit() and digits != b"0":
            digits = b"%d" % (int(digits) + copy * 1_000_000)
        parts.append(digits + quote + tail)
    return marker.join(parts)


if __name__ == "__main__":
    with open_log(sys.argv[2], create=True) as store:
        ingest(store, [sys.argv[1]], IngestOptions(), None)

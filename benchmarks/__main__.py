"""Run the benchmarks: ``python -m benchmarks [NAME…] [--scale 0.1] [--json FILE]``.

Names: append, record, copy, space, seek, audit, belief, stored, session, comparison, startup,
races, why, help, forecast, fidelity, plot, report, pack, serve, pages.
At scale 1 the log has two million events and the audit log 3 GB; the whole takes about half an hour
and 12 GB of disk. Exit 1 when a limit is not kept.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
from pathlib import Path

import msgspec

from plinian.replay.cli.main import GARBAGE

from . import (
    append,
    audit,
    bare_copy,
    belief,
    comparison,
    fidelities,
    forecasts,
    helps,
    packs,
    pages,
    plots,
    races,
    recording,
    reports,
    seek,
    serve,
    session,
    space,
    startup,
    stored_belief,
    why,
)
from .measure import Result, row

BENCHMARKS = {
    "append": append.run,
    "record": recording.run,
    "copy": bare_copy.run,
    "space": space.run,
    "seek": seek.run,
    "audit": audit.run,
    "belief": belief.run,
    "stored": stored_belief.run,
    "session": session.run,
    "comparison": comparison.run,
    "startup": startup.run,
    "races": races.run,
    "why": why.run,
    "help": helps.run,
    "forecast": forecasts.run,
    "fidelity": fidelities.run,
    "plot": plots.run,
    "report": reports.run,
    "pack": packs.run,
    "serve": serve.run,
    "pages": pages.run,
}


def main() -> int:
    """Run what was asked for and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", choices=[[], *BENCHMARKS], default=[])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    gc.set_threshold(*GARBAGE)  # as in the commands that are measured
    results: list[Result] = []
    for name in arguments.name or BENCHMARKS:
        with tempfile.TemporaryDirectory(prefix="plinian-benchmark-") as folder:
            for result in BENCHMARKS[name](Path(folder), scale=arguments.scale):
                results.append(result)
                print(row(result), flush=True)
    if arguments.json:
        arguments.json.write_bytes(msgspec.json.format(msgspec.json.encode(results)) + b"\n")
    return 0 if all(result.met for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())

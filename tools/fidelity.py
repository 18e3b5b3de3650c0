"""Run the sessions of recordings again, and print how they come out, for docs/fidelity.md.

``python tools/fidelity.py [--show] RECORDING[=RELEASE]…``; a recording is a folder as
``plinian ingest`` takes it, with the scheduler's log at verbosity 3 or more.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import plinian
from plinian.replay.fidelity.report import Cause, Counts, Fidelity
from plinian.replay.questions.defaults import DEFAULT_RELEASE

HEADER = (
    "| recording | release | sessions | as recorded | at once | bindings | of these ties "
    "| evictions | phases | conditions |\n|---|---|---|---|---|---|---|---|---|---|\n"
)


def rerun(recording: Path, release: str) -> Fidelity:
    """Return how the sessions of a recording came out."""
    with (
        tempfile.TemporaryDirectory() as folder,
        plinian.open(Path(folder) / "log.db", create=True) as log,
    ):
        log.ingest(recording)
        return log.fidelity(release=release, jobs=os.cpu_count() or 1)


def line(name: str, found: Fidelity) -> str:
    """Return a line of the table: how many are as recorded, of how many."""
    exact = [one for one in found.sessions if one.exact]
    cells = (
        name,
        found.release,
        str(len(found.sessions)),
        str(len(exact)),
        str(sum(not one.deliveries and not one.order for one in exact)),
        _share(found.bindings),
        str(found.bindings.tie),
        _share(found.evictions),
        _share(found.phases),
        _share(found.conditions),
    )
    return f"| {' | '.join(cells)} |\n"


def _share(counts: Counts) -> str:
    return f"{counts.exact + counts.tie} of {counts.recorded}"


def differences(found: Fidelity) -> Sequence[str]:
    """Return what differs and is not explained by deliveries, ties, or the order of maps."""
    explained = {Cause.TIE, Cause.NOT_YET_DELIVERED, Cause.MAP_ORDER}
    return [f"{each}\n" for each in found.differences if each.cause not in explained]


def main() -> None:
    """Print the table, and on request what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="also print what differs")
    parser.add_argument("recordings", nargs="+")
    arguments = parser.parse_args()
    sys.stdout.write(HEADER)
    for named in arguments.recordings:
        place, _, release = named.partition("=")
        found = rerun(Path(place), release or DEFAULT_RELEASE)
        sys.stdout.write(line(Path(place).name, found))
        if arguments.show:
            sys.stderr.writelines(differences(found))


if __name__ == "__main__":
    main()

"""Run the sessions of recordings again, and print how many come out the same, for docs/fidelity.md.

``python tools/fidelity.py [--release v1.12.1] [--show] RECORDING…``; a recording is a folder as
``plinian ingest`` takes it, with the scheduler's log at verbosity 3 or more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from plinian.engine.volcano.session.history import resolve
from plinian.replay.fidelity.recorded import recorded_sessions
from plinian.replay.fidelity.rerun import RerunSession, rerun_sessions
from plinian.replay.ingest.run import ingest
from plinian.replay.moments.log import opened

HEADER = (
    "| recording | sessions | the same | of these at once | binds | evictions | PodGroups |\n"
    "|---|---|---|---|---|---|---|\n"
)


def rerun(recording: Path, release: str) -> list[RerunSession]:
    """Return what came of the sessions of a recording; say how many are left out, and why."""
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(Path(folder) / "log.db", create=True) as log,
    ):
        ingest(log.store, [str(recording)])
        done = rerun_sessions(log.store, log.moment(), resolve(release))
        left_out = len(recorded_sessions(log.store, log.moment())) - len(done)
        if left_out:
            sys.stderr.write(
                f"{recording.name}: {left_out} sessions are left out, because there is no complete"
                " list of what they need before them\n"
            )
        return done


def line(name: str, done: list[RerunSession]) -> str:
    """Return a line of the table: how many are the same, of how many that were recorded."""
    binds = [len(each.recorded.binds) for each in done]
    bound = [len(each.recorded.binds.keys() - {*each.pods, *each.nodes}) for each in done]
    evictions = [len(each.recorded.evictions) for each in done]
    evicted = [len(each.recorded.evictions.keys() - {*each.evictions}) for each in done]
    groups = [len(each.recorded.groups) for each in done]
    written = [len(each.recorded.groups) - len(each.groups) for each in done]
    cells = (
        name,
        str(len(done)),
        str(sum(each.same for each in done)),
        str(sum(each.same and not each.moved for each in done)),
        f"{sum(bound)} of {sum(binds)}",
        f"{sum(evicted)} of {sum(evictions)}",
        f"{sum(written)} of {sum(groups)}",
    )
    return f"| {' | '.join(cells)} |\n"


def differences(done: list[RerunSession]) -> str:
    """Return what differs, a line for every session."""
    return "".join(
        f"{each.recorded.uid} at rv:{each.revision} ({each.moved:+d}): pods {each.pods}, nodes"
        f" {each.nodes}, evictions {each.evictions}, PodGroups {each.groups}\n"
        for each in done
        if not each.same
    )


def main() -> None:
    """Print the table, and on request what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default="v1.12.1")
    parser.add_argument("--show", action="store_true", help="also print what differs")
    parser.add_argument("recordings", nargs="+", type=Path)
    arguments = parser.parse_args()
    sys.stdout.write(HEADER)
    for recording in arguments.recordings:
        done = rerun(recording, arguments.release)
        sys.stdout.write(line(recording.name, done))
        if arguments.show:
            sys.stderr.write(differences(done))


if __name__ == "__main__":
    main()

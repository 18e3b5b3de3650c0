"""A session beside that of a real scheduler: where they part, and whether chance had a say."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from decisions import same, short
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate

Step = dict[str, Any]

FIELDS = (
    *("panic", "restarted", "binds", "evictions", "pipelined", "phases", "counts", "why", "fit"),
    *("queues", "shares", "nominated", "out_of_sync"),
)
"""What is compared, in the short form of results."""
SECONDS = 120
"""A driver that takes longer is taken for dead."""
DEFAULTS = ("fit_errors", "nominated", "metrics", "node_scores", "pod_conditions", "evict_reasons")


class Part(NamedTuple):
    """Where two outcomes part first: the step, and what differs in it."""

    step: int
    fields: tuple[str, ...]
    told: str


class Verdict(NamedTuple):
    """What became of one scenario.

    :param kind: ``same``; ``chance``: some run of the original decided as the session did;
        ``unstable``: the runs differ from each other where the session parts from them;
        ``differs``; ``died``: the driver gave no result.
    """

    case: str
    release: str
    kind: str
    part: Part | None = None
    runs: int = 1


class Driver:
    """A program that prints what a real scheduler does with a scenario."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def run(self, case: Path) -> list[Step] | None:
        """Return the steps in short form, ``None`` if there is no result."""
        with tempfile.NamedTemporaryFile() as state:
            environment = {**os.environ, "DRV_STATE": state.name}
            try:
                done = subprocess.run(
                    [self._program, case],
                    capture_output=True,
                    timeout=SECONDS,
                    check=False,
                    env=environment,
                )
                steps = json.loads(done.stdout)["steps"]
            except (subprocess.TimeoutExpired, ValueError):
                return None
        return [_short(step) for step in steps]


def ours(case: Path, release: str) -> list[Step]:
    """Return the steps of our own sessions in short form."""
    steps = simulate(parse_case(case.read_bytes()), resolve(release), scores=False)
    return [short(step) for step in json.loads(json.dumps(steps))]


def first_part(real: Sequence[Step], own: Sequence[Step]) -> Part | None:
    """Return where they part first; ``None`` if nowhere."""
    if len(real) != len(own):
        return Part(min(len(real), len(own)), ("steps",), f"{len(real)} steps and {len(own)}")
    for number, (theirs, mine) in enumerate(zip(real, own, strict=True)):
        fields = tuple(
            field
            for field in _compared(theirs, mine)
            if not same(theirs.get(field), mine.get(field))
        )
        if fields:
            told = f"real {theirs.get(fields[0])} own {mine.get(fields[0])}"
            return Part(number, fields, told)
    return None


def compare(driver: Driver, case: Path, release: str, *, rolling: Driver, again: int) -> Verdict:
    """Run a scenario on both sides; where they part, run the original ``again`` times more.

    :param rolling: the driver for that, which walks maps as Go does: ``driver`` itself, unless it
        was built to walk them in order of their keys.
    """
    real = driver.run(case)
    if real is None:
        return Verdict(case.name, release, "died")
    own = ours(case, release)
    text = case.read_bytes()
    _leave_out(text, (*real, *own))
    part = first_part(real, own)
    if part is None:
        return Verdict(case.name, release, "same")
    unstable = False
    for number in range(again):
        other = rolling.run(case)
        if other is None:
            continue
        _leave_out(text, other)
        if first_part(other, own) is None:
            return Verdict(case.name, release, "chance", part, number + 2)
        between = first_part(real, other)
        unstable = unstable or (between is not None and between.step <= part.step)
    kind = "unstable" if unstable else "differs"
    return Verdict(case.name, release, kind, part, again + 1)


def _leave_out(case: bytes, steps: Sequence[Step]) -> None:
    """Leave out what is chance, or what a new process knows nothing of.

    Which hypernode's failures are told last is chance. Gauges of scalars that a process set before
    a restart, or before it panicked, are told until somebody sets them anew, which depends on who
    asks.
    """
    ended = b'"RESTART"' in case or any(step.get("panic") for step in steps)
    for step in steps:
        if b'"HyperNode"' in case:
            step["fit"] = {}
        if ended:
            step["shares"] = {
                queue: {name: one for name, one in of.items() if "scalar" not in name}
                for queue, of in step["shares"].items()
            }


def _compared(real: Step, own: Step) -> Sequence[str]:
    """Return the fields to compare; of a process that died before a session only that."""
    if real.get("dead") and own.get("panic"):
        return ("panic", "restarted")
    if real.get("panic"):
        return FIELDS[:-1]  # whether the dead process is asked about nodes, or the next one
    return FIELDS


def _short(step: Step) -> Step:
    groups = {
        key: {**dict.fromkeys(("running", "succeeded", "failed"), 0), **group}
        for key, group in (step.get("podgroups") or {}).items()
    }
    empty = {field: {} for field in DEFAULTS}
    lists = {field: [] for field in ("binds", "evictions", "pipelined", "out_of_sync_nodes_after")}
    known = {key: value for key, value in step.items() if value is not None}
    whole = {"panic": None, "errors": [], "queues": {}, **empty, **lists, **known}
    return {**short({**whole, "podgroups": groups}), "dead": step.get("dead", False)}

"""Start-up: CPU that a command takes from a cold process, as multiples of Python's own start.

The interpreter alone is measured in the same run, so a slow or busy machine changes no figure. All
modules are compiled before, as they are where Plinian is installed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from .measure import Result

RUNS = 9
"""Runs of each command; the least CPU counts, as other work only adds to it."""

COMMANDS: Mapping[str, tuple[tuple[str, ...], float]] = MappingProxyType(
    {
        "`version`": (("version",), 15),
        "`--help`": (("--help",), 15),
        "`get --help`": (("get", "--help"), 15),
        "completion of a kind": (("__complete", "--", "get", "po"), 15),
        "`get pods` from the demo's log": (("get", "pods", "-A"), 30),
    }
)
"""Command lines, and how many starts of the interpreter each may take."""


def run(folder: Path, *, scale: float) -> list[Result]:  # noqa: ARG001 # a start has one size
    """Run each command, and the interpreter alone, in turns."""
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
        "PLINIAN_LOG": str(folder / "demo.db"),
    }
    plinian = (sys.executable, "-m", "plinian")
    _cpu((*plinian, "demo", "--log", environment["PLINIAN_LOG"]), environment)
    alone = (sys.executable, "-c", "pass")
    lines = {name: (*plinian, *words) for name, (words, _) in COMMANDS.items()}
    for line in lines.values():
        _cpu(line, environment)
    rounds = [
        {name: _cpu(line, environment) for name, line in {"": alone, **lines}.items()}
        for _ in range(RUNS)
    ]
    least = {name: min(one[name] for one in rounds) for name in rounds[0]}
    return [
        Result(
            benchmark="startup",
            figure=f"{name}: CPU of a cold process, compared with the interpreter alone",
            value=least[name] / least[""],
            unit="×",
            limit=limit,
            note=f"{least[name]:.3f} s, the interpreter alone {least['']:.3f} s",
        )
        for name, (_, limit) in COMMANDS.items()
    ]


def _cpu(line: Sequence[str], environment: Mapping[str, str]) -> float:
    """Return the CPU seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

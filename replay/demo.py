"""The demo: a real recording that comes with Plinian, and its interesting moments."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from ..engine.errors import UsageError

RECORDING = ("recordings", "quickstart")

BEFORE_INCIDENT = "2026-11-21T01:53:36Z"
"""Just before node-1 is drained."""

AFTER_INCIDENT = "2026-11-21T01:54:11Z"
"""After that, and after node-4 was deleted while pods ran on it."""

JOB = "vcjob/train-b"
"""A job that lost a pod in the drain and came back."""

QUIET = ("metadata.generation", "status.conditions", "status.taskStatusCount")
"""Fields that controllers change all the time; left out to see the rest."""

INPUTS = ("*.jsonl.xz", "*.log.xz", "scheduler-conf/*")
"""The files of the recording that are ingested; the operator's notes are not."""


@contextmanager
def recorded_inputs() -> Iterator[list[str]]:
    """Yield the paths of the recording's inputs, unpacked if Plinian is installed in an archive."""
    with as_file(files(__package__).joinpath(*RECORDING)) as folder:
        yield [str(path) for path in sorted(_inputs(folder))]


def copy_inputs(folder: Path) -> list[Path]:
    """Copy the recording's inputs into a folder, which is created if needed; return the copies.

    :raises UsageError: another file with one of the names already exists.
    """
    copies = []
    with recorded_inputs() as paths:
        for path in map(Path, paths):
            copy = folder / path.name
            if copy.exists() and copy.read_bytes() != path.read_bytes():
                raise UsageError(
                    "another file already exists here",
                    where=str(copy),
                    now="choose an empty folder",
                )
            folder.mkdir(parents=True, exist_ok=True)
            copies.append(Path(shutil.copyfile(path, copy)))
    return copies


def _inputs(folder: Path) -> Iterator[Path]:
    for pattern in INPUTS:
        yield from folder.glob(pattern)

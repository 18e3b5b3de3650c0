"""Names of linted files for others: from here, or without the folders of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ...engine.events.input_names import distinct_names


def shared_files(files: Iterable[str]) -> Mapping[str, str]:
    """Return how others know files, by their paths as they were given."""
    here = Path.cwd()
    relative = {file: _from_here(file, here) for file in files}
    names = distinct_names(relative.values())
    return {file: names[name] for file, name in relative.items()}


def _from_here(file: str, here: Path) -> str:
    path = Path(file)
    within = path.is_absolute() and path.is_relative_to(here)
    return path.relative_to(here).as_posix() if within else file

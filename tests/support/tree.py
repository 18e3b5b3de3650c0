"""The files of the project as they lie in its checkout, for tests that read or copy them."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("engine", "replay", "migrations")
IGNORED = frozenset({".git", ".venv", "build", "dist", "__pycache__", "plinian.egg-info"})


@cache
def files() -> tuple[str, ...]:
    """Return the paths of all files that are tracked or would be, from the root, sorted."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
        ).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive has no .git
        listed = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")]
    return tuple(
        sorted(
            path
            for path in listed
            if path and (ROOT / path).is_file() and not IGNORED & set(Path(path).parts)
        )
    )

"""The command line as a process of its own."""

from __future__ import annotations

import subprocess
import sys

PLINIAN = (sys.executable, "-c", "from plinian.__main__ import main; main()")


def spawn(*arguments: str, **more: object) -> subprocess.Popen[str]:
    """Start the command line."""
    return subprocess.Popen(
        [*PLINIAN, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,  # type: ignore[call-overload]
    )

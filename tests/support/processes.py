"""The command line as a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys

PLINIAN = (sys.executable, "-c", "from plinian.__main__ import main; main()")


def heed_interrupts() -> None:
    """Take interrupts as in a terminal, also where these tests run in the background of a shell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def spawn(*arguments: str, **more: object) -> subprocess.Popen[str]:
    """Start the command line."""
    return subprocess.Popen(
        [*PLINIAN, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509 -- no threads are at work here
        **more,  # type: ignore[call-overload]
    )

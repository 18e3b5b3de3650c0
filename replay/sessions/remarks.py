"""What is said beside sessions: the release and the configuration that they ran with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .assumed import kept_text

if TYPE_CHECKING:
    from .session_answer import SessionRun

UNNAMED = "the default; choose another with --release"


def release_text(release: str, *, named: bool) -> str:
    """Return a release, and whether it was taken because none was named."""
    return release if named else f"{release} ({UNNAMED})"


def session_remarks(answer: SessionRun, *, recorded: bool, named: bool = True) -> Iterator[str]:
    """Yield what a session was run on.

    :param named: the release was named on the command line.
    :param recorded: its configuration is the log's: yield as well which ones it rejected.
    """
    for fault in answer.rejected if recorded else ():
        yield kept_text(answer.release, fault, answer.conf)
    release = release_text(answer.release, named=named)
    yield f"session at {answer.at} as {release}, configuration {answer.conf}"

"""Whether a log knows what a session needs."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.state.log_coverage import UnknownCause
from ..coverage.coverage import doubtful
from ..moments.unknown import Unknown

UNRECORDED = "no watch or audit log records what the session wrote"


def is_unrecorded(unknown: Sequence[Unknown], revision: int, time: int) -> bool:
    """Return whether a gap follows a revision: what a session wrote then is not in the log."""
    return doubtful(unknown, revision + 1, time)


def is_doubtful(unknown: Sequence[Unknown], revision: int, time: int) -> bool:
    """Return whether any gap includes a revision at a time.

    Where nothing follows a revision, the time may still be long after it: a watch that ended has no
    later revision.

    :param unknown: of a range, as :func:`.coverage.unknown_between` has it.
    """
    ended = [lack for lack in unknown if lack.gap.why is UnknownCause.AFTER]
    return doubtful(unknown, revision, time) or doubtful(ended, revision + 1, time)

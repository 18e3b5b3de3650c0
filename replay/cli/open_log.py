"""Open a log for a command; remarks about a moment go to standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .shell import note

if TYPE_CHECKING:
    from ..moments.log import Log


def opened(place: str, **options: Any) -> Log:
    """Open a log as :func:`plinian.replay.moments.log.opened` does; remarks are printed."""
    from ..moments.log import opened as open_log

    return open_log(place, remark=lambda line: note(f"plinian: {line}"), **options)

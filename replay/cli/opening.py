"""Opening a log for a command: what is to be known of a moment goes to standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .shell import note

if TYPE_CHECKING:
    from ..log import Log


def opened(place: str, **options: Any) -> Log:
    """Open a log as :func:`plinian.replay.log.opened` does; remarks on moments are printed."""
    from ..log import opened as open_log

    return open_log(place, remark=lambda line: note(f"plinian: {line}"), **options)

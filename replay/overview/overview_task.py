"""What an overview is asked."""

from __future__ import annotations

import msgspec

from ...engine.errors import UsageError
from ...engine.kubernetes.units import SECOND_US, parse_duration
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment

RECENT_US = 600 * SECOND_US
"""How long before the moment acts are listed, by default."""


class OverviewTask(msgspec.Struct, frozen=True, kw_only=True):
    """What to look at.

    :param conf: a configuration instead of the log's. :param assumed: what the caller assumed, as
        sentences. :param recent: how long before the moment acts are listed, microseconds.
    """

    moment: Moment
    release: str
    conf: ConfText | None = None
    assumed: tuple[str, ...] = ()
    recent: int = RECENT_US


def recent_of(text: str) -> int:
    """Return how long before a moment acts are listed, in microseconds.

    :param text: a duration, as in ``10m``.
    :raises UsageError: it is none.
    """
    try:
        return parse_duration(text)
    except ValueError as fault:
        raise UsageError(f"--recent: {fault}", now="write a duration, such as 10m or 2h") from fault

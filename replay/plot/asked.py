"""What can be drawn of a log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..truth.points import Point

QUEUES, NODES, GANG, SESSIONS, WAITS = KINDS = ("queues", "nodes", "gang", "sessions", "waits")


class PlotRequest(NamedTuple):
    """What to draw.

    :param what: one of :data:`KINDS`. :param names: only these queues or nodes; the gang.
    :param from_: and ``to``: the period; None is the log's begin or end.
    """

    what: str
    names: Sequence[str] = ()
    from_: Point | None = None
    to: Point | None = None
    resource: str | None = None
    namespace: str | None = None

"""The timeline: events around the position."""

from __future__ import annotations

import msgspec

from ...facade.log import Log
from ...render.events import event_rows
from .look import Look
from .page import page


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """What the timeline shows."""

    rows: list[list[str]]


@page("", template="moment.html", title="Timeline", nav="Timeline", key="t")
def timeline(log: Log, look: Look) -> Timeline:
    """Return the events around a position."""
    found = log.events(after=max(look.position - 100, 0), limit=200)
    return Timeline(rows=list(event_rows(found, wide=False)))

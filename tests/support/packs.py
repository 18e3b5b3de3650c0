"""Logs to pack: their events get times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from plinian.engine.events import Event
from plinian.replay.facade.log import Log

SECOND_US = 1_000_000
BEGIN = 1_767_355_200 * SECOND_US
"""Noon of 2026-01-02: revision 0 of a log made here; each revision comes a second later."""

TIME = "2026-11-21T01:53:36Z"
"""The moment of the recording at which gpu-2 waits."""


def timed(events: Sequence[Event]) -> list[Event]:
    """Return events with the time that their revision says."""
    found = []
    for event in events:
        time = BEGIN + (event.revision or 0) * SECOND_US
        found.append(msgspec.structs.replace(event, earliest=time, latest=time))
    return found


Logged = Callable[[Sequence[Event]], Log]

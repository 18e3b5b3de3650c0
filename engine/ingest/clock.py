"""Clocks that were set back, as far as the versions of objects tell."""

from __future__ import annotations

from collections.abc import Iterable

from ..events import Event
from ..units import SECOND_US, format_age

TOLERANCE_US = 2 * SECOND_US
"""API servers disagree by so much at least; ``managedFields`` are in whole seconds."""


class ClockWatch:
    """Looks for versions of an object whose times fall while their revisions rise.

    Only versions from the same source are compared: sources know the time with unlike precision.
    """

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], int] = {}
        self._falls = 0
        self._first = ""

    def look(self, events: Iterable[Event]) -> None:
        """Take the next events in order of revision."""
        times = self._times
        for event in events:
            time, uid = event.observed_at, event.reference.uid
            if time is None or event.revision is None or not uid:
                continue
            key = (event.source, uid)
            before = times.get(key, time)
            times[key] = time
            if before - time > TOLERANCE_US:
                self._falls += 1
                self._first = self._first or (
                    f"{event.source}:{event.line}, by {format_age(before - time)}"
                )

    def note(self) -> str | None:
        """Return what to tell about it, if there is anything."""
        if not self._falls:
            return None
        return (
            f"{self._falls} x the time falls from one version of an object to the next (first at"
            f" {self._first}): a clock was set back, or clocks differ; the order is that of"
            " resourceVersions, and times are kept as they were told"
        )

"""The least and the greatest revision and time of what is ingested."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.events import Event
from ...engine.kubernetes.units import format_time


class Reach:
    """The least and the greatest revision and time of some events."""

    def __init__(self) -> None:
        self.revisions: tuple[int | None, int | None] = (None, None)
        self._times: tuple[int | None, int | None] = (None, None)

    def widen(self, batch: Sequence[Event]) -> None:
        """Include more events."""
        revisions = [event.revision for event in batch if event.revision is not None]
        self.revisions = _widened(self.revisions, revisions)
        found = [event.latest if event.earliest is None else event.earliest for event in batch]
        times = [time for time in found if time is not None]
        self._times = _widened(self._times, times)

    def times(self) -> tuple[str | None, str | None]:
        """Return the least and the greatest time as text."""
        first, last = self._times
        return (
            None if first is None else format_time(first),
            None if last is None else format_time(last),
        )


def _widened(
    reach: tuple[int | None, int | None], values: list[int]
) -> tuple[int | None, int | None]:
    all_values = [*values, *(value for value in reach if value is not None)]
    return (min(all_values), max(all_values)) if all_values else (None, None)

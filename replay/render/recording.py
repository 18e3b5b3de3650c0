"""A recorder at work, as a table: its streams, how much they bring, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US
from ..capture.recorder import Recording
from ..capture.stream_state import StreamPhase, StreamState
from .figures import bytes_text
from .tables import PLAIN, Style, TextColumn, lines_of, table_of


class StreamRow(NamedTuple):
    """A stream at a moment. :param rate: events a second. :param quiet: seconds since it spoke."""

    state: StreamState
    rate: float
    quiet: float | None


_COLUMNS = (
    TextColumn[StreamRow]("STREAM", lambda row: row.state.name, keep=True, shorten=True),
    TextColumn[StreamRow]("STATE", lambda row: row.state.phase, keep=True),
    TextColumn[StreamRow]("EVENTS", lambda row: f"{row.state.events:,}"),
    TextColumn[StreamRow]("A SECOND", lambda row: f"{row.rate:.0f}" if row.rate else "-"),
    TextColumn[StreamRow]("HEARD", lambda row: _heard(row.quiet)),
    TextColumn[StreamRow]("HOLES", lambda row: str(row.state.holes or "-")),
    TextColumn[StreamRow]("FAULT", lambda row: row.state.fault or "-", shorten=True),
)
_LAST = (StreamPhase.ABSENT,)


def _heard(seconds: float | None) -> str:
    return "never" if seconds is None else f"{max(seconds, 0):.0f}s ago"


def recording_lines(
    recording: Recording, *, now: int, rates: Mapping[str, float], style: Style = PLAIN
) -> Iterator[str]:
    """Yield the streams that do something, those with a fault first; then how much is stored.

    :param now: microseconds since 1970. :param rates: events a second, by the name of the stream.
    """
    rows = [
        StreamRow(
            state,
            rates.get(state.name, 0.0),
            (now - state.heard_at) / SECOND_US if state.heard_at else None,
        )
        for state in recording.streams
    ]
    shown = sorted(
        (row for row in rows if row.state.phase not in _LAST),
        key=lambda row: (
            row.state.phase is not StreamPhase.WAITING,
            -row.state.events,
            row.state.name,
        ),
    )
    yield from lines_of(table_of(_COLUMNS, shown), style=style)
    absent = len(rows) - len(shown)
    if absent:
        yield f"and {counted(absent, 'kind')} that the cluster does not have\n"
    done = recording.committed
    yield (
        f"{done.appended:,} events stored in {counted(done.commits, 'commit')}, "
        f"{recording.waiting:,} wait ({bytes_text(recording.bytes_waiting)}), "
        f"{done.lag:.1f} s behind\n"
    )


def recorded_lines(recording: Recording, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield what a recorder did, at its end."""
    done = recording.committed
    holes = sum(state.holes for state in recording.streams)
    yield f"{done.appended:,} new events, the log now ends at @{done.last}\n"
    if done.known:
        yield f"{done.known:,} events were in the log before\n"
    if holes:
        yield style.changed(f"{counted(holes, 'hole')}: plinian status shows them\n")

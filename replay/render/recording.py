"""A recorder at work, as a table: its streams, how much they bring, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US
from ..capture.recorder import Recording
from ..capture.stream_state import StreamPhase, StreamState
from .figures import bytes_text
from .screen import one_line
from .tables import PLAIN, Style, TextColumn, lines_of, paragraph, table_of


class StreamRow(NamedTuple):
    """A stream at a moment. :param rate: events a second. :param quiet: seconds since it spoke."""

    state: StreamState
    rate: float
    quiet: float | None

    @property
    def is_faulty(self) -> bool:
        """Whether it waits after a fault."""
        return self.state.phase is StreamPhase.WAITING

    @property
    def is_quiet(self) -> bool:
        """Whether it is watched, brings nothing now, and nothing of it is missing."""
        calm = self.state.phase in {StreamPhase.WATCHING, StreamPhase.STOPPED}
        return calm and not self.rate and not self.state.holes and not self.state.fault


_COLUMNS = (
    TextColumn[StreamRow]("STREAM", lambda row: row.state.name, keep=True, shorten=True),
    TextColumn[StreamRow]("STATE", lambda row: row.state.phase, keep=True),
    TextColumn[StreamRow]("A SECOND", lambda row: f"{row.rate:.0f}" if row.rate else "-"),
    TextColumn[StreamRow]("HOLES", lambda row: str(row.state.holes or "-"), keep=True),
    TextColumn[StreamRow]("HEARD", lambda row: _heard(row.quiet), keep=True),
    TextColumn[StreamRow]("EVENTS", lambda row: f"{row.state.events:,}"),
)
_FAULTS, _AROUND = 5, 8
"""Lines for faults at most, and lines beside those of faults and streams."""


def _heard(seconds: float | None) -> str:
    return "never" if seconds is None else f"{max(seconds, 0):.0f}s ago"


def recording_lines(
    recording: Recording,
    *,
    now: int,
    rates: Mapping[str, float],
    style: Style = PLAIN,
    height: int | None = None,
) -> Iterator[str]:
    """Yield faults, the streams that have something to say, and how much is stored.

    Streams that wait come first, then those with holes, then the busiest. All others are one line.

    :param now: microseconds since 1970. :param rates: events a second, by the name of the stream.
    :param height: lines that there is room for; None is no limit.
    """
    rows = [
        StreamRow(
            state,
            rates.get(state.name, 0.0),
            (now - state.heard_at) / SECOND_US if state.heard_at else None,
        )
        for state in recording.streams
        if state.phase is not StreamPhase.ABSENT
    ]
    faults = list(_faults(recording, rows, style.width))
    yield from faults
    talking = sorted(
        (row for row in rows if not row.is_quiet),
        key=lambda row: (not row.is_faulty, not row.state.holes, -row.rate, row.state.name),
    )
    room = len(talking) if height is None else max(height - _AROUND - len(faults), 1)
    if talking:
        yield from lines_of(table_of(_COLUMNS, talking[:room]), style=style)
    absent = len(recording.streams) - len(rows)
    yield from _others(talking[room:], [row for row in rows if row.is_quiet], absent, style)
    done = recording.committed
    yield from paragraph(
        f"{done.appended:,} events stored in {counted(done.commits, 'commit')}, "
        f"{recording.waiting:,} wait ({bytes_text(recording.bytes_waiting)}), "
        f"{max(done.lag, recording.oldest):.1f} s behind",
        style,
    )


def _faults(recording: Recording, rows: Iterable[StreamRow], width: int | None) -> Iterator[str]:
    """Yield a line for each fault, as far as there is room: that of the log first."""
    found = [] if recording.fault is None else [f"the log cannot be written: {recording.fault}"]
    waiting: dict[str, list[str]] = {}
    for row in rows:
        if row.is_faulty:
            waiting.setdefault(row.state.fault, []).append(row.state.name)
    for fault, names in waiting.items():
        # A server that is away is one fault, not one of each stream.
        about = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        found.append(f"{about}: {fault}")
    for line in found[:_FAULTS]:
        text = one_line(line)
        cut = width is not None and len(text) > width
        yield f"{text[: (width or 0) - 1]}…\n" if cut else f"{text}\n"
    if len(found) > _FAULTS:
        yield f"and {counted(len(found) - _FAULTS, 'other fault')}\n"


def _others(
    further: Sequence[StreamRow], quiet: Sequence[StreamRow], absent: int, style: Style
) -> Iterator[str]:
    """Yield how many streams are not in the table."""
    parts = []
    if further:
        parts.append(f"{counted(len(further), 'further stream')}")
    if quiet:
        longest = max((row.quiet for row in quiet if row.quiet is not None), default=0.0)
        parts.append(f"{counted(len(quiet), 'quiet stream')}, each heard within {longest:.0f} s")
    if absent:
        parts.append(f"{counted(absent, 'kind')} that the cluster does not have")
    if parts:
        yield from paragraph("; ".join(parts), style)


def recorded_lines(recording: Recording, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield what a recorder did, at its end."""
    done = recording.committed
    holes = sum(state.holes for state in recording.streams)
    yield f"{done.appended:,} new events, the log now ends at @{done.last}\n"
    if done.known:
        yield f"{done.known:,} events were in the log before\n"
    if holes:
        yield style.changed(f"{counted(holes, 'hole')}: plinian status shows them\n")

"""A recorder at work, as a table: its streams, how much they bring, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US
from ..capture.recorder import Recording
from ..capture.stream_state import NOT_SERVED, StreamPhase, StreamState, WaitCause, is_address
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
_FAULTS, _LONGEST_FAULT, _AROUND = 8, 4, 8
"""Lines for faults, and for one of them, at most; lines beside those of faults and streams."""


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
    causes = wait_causes(row.state for row in rows if row.is_faulty)
    faults = list(_faults(recording, causes, style))
    yield from faults
    # Streams that wait for the same cause are in its line.
    together = {state.name for states in causes.values() for state in states if len(states) > 1}
    talking = sorted(
        (row for row in rows if not row.is_quiet and row.state.name not in together),
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


Causes: TypeAlias = Mapping[WaitCause, Sequence[StreamState]]


def wait_causes(states: Iterable[StreamState]) -> Causes:
    """Return what streams wait for, with those that do: a server that is away is one cause."""
    found: dict[WaitCause, list[StreamState]] = {}
    for state in states:
        found.setdefault(state.cause, []).append(state)
    return found


def _cause_line(cause: WaitCause, states: Sequence[StreamState], waits: str) -> str:
    """Return why streams wait, first of all: what is cut off or scrolls away is less."""
    if len(states) == 1 and not is_address(cause.where):
        said = f"{states[0].name}: {cause.what}"
    else:
        place = f"{cause.where}: " if is_address(cause.where) else ""
        said = f"{place}{cause.what} ({counted(len(states), 'stream')} {waits})"
    return f"{said}; {cause.now}" if cause.now else said


def _faults(recording: Recording, causes: Causes, style: Style) -> Iterator[str]:
    """Yield each fault, as far as there is room: that of the log first."""
    found = [] if recording.fault is None else [f"the log cannot be written: {recording.fault}"]
    found += [
        _cause_line(cause, states, "waits" if len(states) == 1 else "wait")
        for cause, states in sorted(causes.items(), key=lambda each: -len(each[1]))
    ]
    used = 0
    for number, line in enumerate(found):
        lines = list(paragraph(one_line(line), style))[:_LONGEST_FAULT]
        used += len(lines)
        if number and used > _FAULTS:
            yield f"and {counted(len(found) - number, 'other fault')}\n"
            return
        yield from lines


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
    waiting = [state for state in recording.streams if state.fault and state.fault != NOT_SERVED]
    for cause, states in wait_causes(waiting).items():
        yield from paragraph(one_line(_cause_line(cause, states, "waited at the end")), style)

"""What is printed about a pack."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from ...engine.events.payloads import AnswerExpected, NamesRedacted
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import format_time
from ..render.figures import bytes_text, pair_lines
from ..render.tables import PLAIN, Style, Table, lines_of
from .opened import OpenedPack
from .pack_writing import Packed

_SHOWN = 20
"""Decisions that are printed at most."""

_PHASE = "phase"


def packed_lines(packed: Packed, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield what was packed."""
    yield from pair_lines(
        [
            ("slice", _range(packed.begin, packed.end, packed.since, packed.until)),
            ("holds", _holds(packed.objects, packed.events)),
            ("names", _names(packed.redacted)),
            ("left out", counted(packed.left_out, "value")),
            ("answer", _answer(packed.expected)),
            ("size", bytes_text(packed.bytes)),
        ],
        style=style,
    )


def opened_lines(pack: OpenedPack, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield what a pack is, and what its session decides."""
    expected = pack.expected
    said = "as expected" if pack.as_expected else f"not as expected ({_answer(expected)})"
    yield from pair_lines(
        [
            ("pack", f"{pack.path}, format {pack.format}, written by Plinian {pack.plinian}"),
            ("slice", _range(pack.begin, pack.end, pack.since, pack.until)),
            ("holds", _holds(pack.objects, pack.events)),
            ("names", _names(pack.redacted)),
            *([("question", expected.question)] if expected.question else []),
            ("session", f"at {expected.at} as {expected.release}"),
            ("verified", f"no changes in {counted(pack.verified, 'event')}"),
            ("answer", f"{said}, digest {pack.digest[:16]}"),
        ],
        style=style,
    )
    yield "\n"
    # Phases of PodGroups are many and mostly as before: they are shown only if nothing else is.
    rows = [row for row in pack.decisions if row[0] != _PHASE] or pack.decisions
    yield from lines_of(
        Table(("DECISION", "OBJECT", "VALUE"), rows[:_SHOWN], keep=("OBJECT", "VALUE")), style=style
    )
    if len(rows) > _SHOWN:
        yield f"({len(rows) - _SHOWN} more: -o json)\n"
    yield "\n"
    at = f"--at {quote(expected.at)}"
    yield f"plinian session {at} --release {expected.release} --log {quote(pack.path)}\n"


def _range(begin: int, end: int, since: int | None, until: int | None) -> str:
    times = [format_time(time) for time in (since, until) if time is not None]
    return f"rv:{begin} … rv:{end}" + (f", {' … '.join(times)}" if times else "")


def _holds(objects: int, events: int) -> str:
    state = counted(objects, "event")
    return f"{state} for the state at the begin, {counted(events, 'event')} after it"


def _names(redacted: NamesRedacted | None) -> str:
    if redacted is None:
        return "the original ones"
    return (
        f"{redacted.names:,} replaced (map {redacted.map[:16]}); proof: {redacted.decisions:,}"
        f" decisions of {counted(len(redacted.moments), 'session')} as {redacted.release} are the"
        f" same, digest {redacted.digest[:16]}"
    )


def _answer(expected: AnswerExpected) -> str:
    decided = ", ".join(f"{count} {kind}" for kind, count in expected.decisions.items())
    return f"{decided or 'no decisions'}, digest {expected.digest[:16]}"

"""What a log holds, for people."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.resources import plural_of
from ...engine.kubernetes.units import SECOND_US, format_time
from ..moments.times import is_uncertain, span_text
from .figures import pair_lines
from .tables import NONE, PLAIN, Style, Table, lines_of, paragraph

if TYPE_CHECKING:
    from ..logs.log_status import KnownKind, KnownRange, Status

_NAMES_SHOWN = 2
_SHOWN = 3


def status_lines(status: Status, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield what a log holds: range, times, inputs, coverage by kind, and what it lacks."""
    yield from pair_lines(
        [
            ("cluster", status.cluster),
            ("events", f"{status.events}, the log ends at @{status.last}"),
            ("revisions", _reach("rv:", status.first_revision, status.last_revision)),
            ("releases", ", ".join(f"{r.component} {r.version}" for r in status.releases) or NONE),
            ("configurations", ", ".join(status.configurations) or NONE),
        ],
        style=style,
    )
    yield "\n" + style.bold("TIMES") + "\n"
    yield from _times(status)
    yield "\n"
    yield from lines_of(_inputs(status), style=style)
    yield "\n"
    if status.whole:
        yield "A scenario is complete: all kinds are known at all revisions.\n"
    else:
        yield from lines_of(_coverage(status), style=style)
    if status.advice:
        yield "\n" + style.bold("WHAT WOULD HELP") + "\n"
        for advice in status.advice:
            yield from paragraph(advice, style)


def _times(status: Status) -> Iterator[str]:
    times = status.times
    if times.first is None or times.last is None:
        yield "no event has a time\n"
    else:
        begin, end = (
            span_text(span) if is_uncertain(span) else format_time(span.estimate or 0)
            for span in times.ends
        )
        yield f"from {begin} to {end}\n"
    if times.revisions:
        have = "has" if 1 in {times.bounded, times.revisions} else "have"
        revisions = counted(times.revisions, "revision")
        width = (
            ""
            if times.median_width_us is None
            else f", half of them within {_width(times.median_width_us)}"
        )
        yield f"{times.bounded} of {revisions} {have} an earliest and a latest time{width}\n"
    yield from (f"{text}\n" for text in times.disagreements)


def _width(micros: int) -> str:
    return f"{micros / SECOND_US:.1f} s" if micros >= SECOND_US // 2 else f"{micros // 1000} ms"


def _inputs(status: Status) -> Table:
    rows = [
        (
            one.source,
            f"{one.format}, redacted" if one.redacted else one.format,
            str(one.events),
            _reach("rv:", one.first_revision, one.last_revision),
        )
        for one in status.inputs
    ]
    headers = ("INPUT", "FORMAT", "EVENTS", "REVISIONS")
    return Table(headers, rows, keep=("FORMAT", "EVENTS"), shorten=("INPUT",))


def _coverage(status: Status) -> Table:
    rows = [_row(one) for one in status.coverage]
    rows += [(plural_of(*one.pair), "", "never", NONE, NONE) for one in status.missing]
    return Table(
        ("KIND", "NAMESPACES", "COMPLETE", "GAPS", "SOURCE"),
        rows,
        keep=("NAMESPACES", "COMPLETE", "GAPS"),
    )


def _row(one: KnownKind) -> tuple[str, ...]:
    stretches = one.complete
    by = dict.fromkeys(word for stretch in stretches for word in stretch.by)
    return (
        plural_of(*one.pair),
        _names(one.namespaces),
        _few([_reach("rv:", one.first, one.last) for one in stretches]),
        _few([_reach("rv:", *hole) for hole in _holes(stretches)]),
        ", ".join(by),
    )


def _names(names: tuple[str, ...]) -> str:
    more = len(names) - _NAMES_SHOWN
    few = ",".join(names[:_NAMES_SHOWN])
    return f"{few} and {more} more" if more > 0 else few or "all"


def _holes(stretches: tuple[KnownRange, ...]) -> list[tuple[int, int]]:
    """Return the first and last revision of each gap between known ranges."""
    return [(earlier.last + 1, later.first - 1) for earlier, later in pairwise(stretches)]


def _few(texts: list[str]) -> str:
    more = len(texts) - _SHOWN
    few = ", ".join(texts[:_SHOWN])
    return f"{few} and {more} more" if more > 0 else few or NONE


def _reach(prefix: str, first: int | None, last: int | None) -> str:
    if first is None:
        return NONE
    return f"{prefix}{first}" if first == last else f"{prefix}{first} to {prefix}{last}"

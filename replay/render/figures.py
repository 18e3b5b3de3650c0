"""What a log holds, what an ingestion added, what a line became: names and values, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.resources import plural_of
from ...engine.kubernetes.units import SECOND_US, format_age, format_time
from ...engine.log import LogInfo
from ..moments.times import is_uncertain, span_text
from .blocks import Block, Section, Sentence, TerminalLine, block_lines
from .tables import NONE, PLAIN, Style, Table, TextColumn, few_of, table_of

if TYPE_CHECKING:
    from ..ingest.explain import BecameEvent, Explanation
    from ..ingest.ingest_run import IngestSummary
    from ..logs.log_status import FollowedStream, Input, KnownKind, KnownRange, Status

_NAMES_SHOWN = 2
_SHOWN = 3
_FILES_SHOWN = 10

_HOLES_SHOWN = 5
_SAID = 160
"""Characters of a payload that are shown; ``-o json`` has all of it."""


def pair_lines(pairs: list[tuple[str, str]], *, style: Style = PLAIN) -> Iterator[str]:
    """Yield names and values in two columns."""
    yield from (f"{text}\n" for text in _pairs(pairs, style))


def _pairs(pairs: list[tuple[str, str]], style: Style) -> Iterator[str]:
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        yield f"{style.bold(name.ljust(width))}   {value}"


def bytes_text(count: int) -> str:
    """Return a number of bytes as people read it: ``12.3 MiB``."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.1f}".removesuffix(".0") + f" {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def _reach(prefix: str, first: object, last: object, *, single: bool = True) -> str:
    if first is None:
        return NONE
    return f"{prefix}{first}" if single and first == last else f"{prefix}{first} to {prefix}{last}"


def info_lines(info: LogInfo, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield what ``plinian db info`` prints."""
    pairs = [
        ("log", info.url),
        ("database", info.database),
        ("tables", f"revision {info.schema_revision}"),
        ("made by", f"plinian {info.plinian}"),
        ("events", str(info.events)),
        ("objects", str(info.objects)),
        ("batches", str(info.batches)),
        ("checkpoints", str(info.checkpoints)),
        ("fact blocks", str(info.fact_blocks)),
        ("size", bytes_text(info.bytes_stored)),
        ("clusters", ", ".join(info.clusters) or NONE),
    ]
    rows = [
        [branch.name, branch.parent or NONE, f"@{branch.fork}", f"@{branch.last}"]
        for branch in info.branches
    ]
    table = Table(("BRANCH", "PARENT", "FORK", "LAST"), rows)
    return block_lines([Section(list(_pairs(pairs, PLAIN))), Section([table])], style=style)


def explanation_lines(explanation: Explanation, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield what a line becomes: its format, its record, and the events or why it is skipped."""
    without = "".join(f", read without {removed}" for removed in explanation.removed)
    record = "no record begins on this line or before it"
    if explanation.record:
        record = f"begins on line {explanation.record}, and this line continues it"
        record = "begins on this line" if explanation.record == explanation.line else record
    pairs = [
        ("line", f"{explanation.source}:{explanation.line}"),
        ("format", f"{explanation.format}{without}"),
        ("record", record),
        *(("skipped", reason) for reason in explanation.skipped),
        *(("concludes", kind) for kind in explanation.concludes),
    ]
    parts: list[list[Block]] = [[*_pairs(pairs, style)]]
    if explanation.events:
        rows = [(event.kind, _object(event), _said(event)) for event in explanation.events]
        more = explanation.total - len(explanation.events)
        rest = [f"and {counted(more, 'more event')}"] * bool(more)
        parts.append([Table(("EVENT", "OBJECT", "WHAT IT SAYS"), rows), *rest])
    elif not explanation.skipped and not explanation.concludes:
        parts[0].append("no event")
    return block_lines(map(Section, parts), style=style)


def _object(event: BecameEvent) -> str:
    return " ".join(filter(None, (event.object.kind.lower(), event.object.full_name))) or NONE


def _said(event: BecameEvent) -> str:
    if event.resource_version:  # The payload is the object.
        return f"version {event.resource_version}"
    import json  # noqa: PLC0415 -- seldom needed

    text = json.dumps(event.payload, ensure_ascii=False)
    return text if len(text) <= _SAID else f"{text[:_SAID]}…"


def summary_lines(summary: IngestSummary, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield the summary of an ingestion: events by kind, what was skipped and why, the range."""
    parts: list[list[Block]] = []
    if summary.kinds:
        rows = [[kind, str(count)] for kind, count in sorted(summary.kinds.items())]
        parts.append([Table(("KIND", "NEW"), rows)])
    if summary.skipped:
        rows = [
            [reason, str(count), summary.first_skipped.get(reason, NONE)]
            for reason, count in sorted(summary.skipped.items())
        ]
        parts.append([Table(("SKIPPED", "RECORDS", "FIRST"), rows)])
    formats = (f"{name} ({count})" for name, count in sorted(summary.formats.items()))
    revisions = (summary.first_revision, summary.last_revision)
    times = (summary.first_observed, summary.last_observed)
    pairs = [
        ("new events", f"{summary.appended}, the log now ends at @{summary.last_position}"),
        ("already known", str(summary.known)),
        ("formats", ", ".join(formats) or NONE),
        ("revisions", _reach("rv:", *revisions, single=False)),
        ("times", _reach("", *times, single=False)),
    ]
    parts.append([*_pairs(pairs, style), *_remarks(summary)])
    return block_lines(map(Section, parts), style=style)


def _remarks(summary: IngestSummary) -> Iterator[str]:
    files = summary.skipped_files
    # Only the first faults are kept as text; all are counted.
    more_faults = summary.skipped.get("malformed", 0) - len(summary.malformed)
    more_files = len(files) - _FILES_SHOWN
    yield from (f"malformed: {fault}" for fault in summary.malformed)
    yield from [f"malformed: and {more_faults} more"] * (more_faults > 0)
    yield from (f"skipped: {file.source}: {file.reason}" for file in files[:_FILES_SHOWN])
    yield from [f"skipped: and {counted(more_files, 'more file')}"] * (more_files > 0)
    yield from (f"note: {note}" for note in summary.notes)


def status_lines(status: Status, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield what a log holds: range, times, inputs, coverage by kind, and what it lacks."""
    pairs = Section(list(_pairs(status_pairs(status), style)))
    return block_lines([pairs, *status_sections(status)], style=style)


def status_pairs(status: Status) -> list[tuple[str, str]]:
    """Return the names and values that stand above all of a log's status."""
    return [
        ("cluster", status.cluster),
        ("events", f"{status.events}, the log ends at @{status.last}"),
        ("revisions", _reach("rv:", status.first_revision, status.last_revision)),
        ("releases", ", ".join(f"{r.component} {r.version}" for r in status.releases) or NONE),
        ("configurations", ", ".join(status.configurations) or NONE),
    ]


def status_sections(status: Status) -> Iterator[Section]:
    """Yield times, inputs, coverage by kind, the streams of recorders, and what would help."""
    yield Section([TerminalLine("TIMES"), *map(Sentence, _times(status))], "Times")
    yield Section([table_of(_INPUTS, status.inputs)], "Inputs")
    whole = Sentence("A scenario is complete: all kinds are known at all revisions.")
    yield Section([whole if status.whole else _coverage(status)], "Known completely")
    if status.streams:
        streams = table_of(_STREAMS, status.streams)
        yield Section([TerminalLine("STREAMS"), streams, *_stream_holes(status)], "Streams")
    if status.advice:
        advice: list[Block] = [TerminalLine("WHAT WOULD HELP"), *map(Sentence, status.advice)]
        yield Section(advice, "What would help")


def _times(status: Status) -> Iterator[str]:
    times = status.times
    if times.first is None or times.last is None:
        yield "no event has a time"
    else:
        begin, end = (
            span_text(span) if is_uncertain(span) else format_time(span.estimate or 0)
            for span in times.ends
        )
        yield f"from {begin} to {end}"
    if times.revisions:
        have = "has" if 1 in {times.bounded, times.revisions} else "have"
        revisions = counted(times.revisions, "revision")
        width = (
            ""
            if times.median_width_us is None
            else f", half of them within {_width(times.median_width_us)}"
        )
        yield f"{times.bounded} of {revisions} {have} an earliest and a latest time{width}"
    yield from times.disagreements


def _width(micros: int) -> str:
    return f"{micros / SECOND_US:.1f} s" if micros >= SECOND_US // 2 else f"{micros // 1000} ms"


_INPUTS: Sequence[TextColumn[Input]] = (
    TextColumn("INPUT", lambda input_: input_.source, shorten=True),
    TextColumn(
        "FORMAT",
        lambda input_: f"{input_.format}, redacted" if input_.redacted else input_.format,
        keep=True,
    ),
    TextColumn("EVENTS", lambda input_: str(input_.events), keep=True),
    TextColumn(
        "REVISIONS", lambda input_: _reach("rv:", input_.first_revision, input_.last_revision)
    ),
)


_STREAMS: Sequence[TextColumn[FollowedStream]] = (
    TextColumn("STREAM", lambda one: one.stream, shorten=True),
    TextColumn("HOLES", lambda one: str(len(one.holes)) if one.holes else "-", keep=True),
    TextColumn(
        "BEFORE THE END",
        lambda one: NONE if one.silent_us is None else format_age(one.silent_us),
        keep=True,
    ),
    TextColumn("UP TO", lambda one: NONE if one.revision is None else f"rv:{one.revision}"),
    TextColumn("HEARD", lambda one: NONE if one.heard is None else format_time(one.heard)),
)


def _stream_holes(status: Status) -> Iterator[Block]:
    """Yield a sentence for each hole of a stream, as far as they are few."""
    holes = [(one.stream, hole) for one in status.streams for hole in one.holes]
    for stream, hole in holes[:_HOLES_SHOWN]:
        why = f": {hole.left}" if hole.left else ""
        yield Sentence(f"{stream}: a hole between rv:{hole.after} and rv:{hole.before}{why}")
    if len(holes) > _HOLES_SHOWN:
        more = counted(len(holes) - _HOLES_SHOWN, "further hole")
        yield Sentence(f"and {more}: plinian events --kind watch.repaired")


def _coverage(status: Status) -> Table:
    rows = [_row(known_kind) for known_kind in status.coverage]
    rows += [(plural_of(*kind_name.pair), "", "never", NONE, NONE) for kind_name in status.missing]
    return Table(
        ("KIND", "NAMESPACES", "COMPLETE", "GAPS", "SOURCE"),
        rows,
        keep=("NAMESPACES", "COMPLETE", "GAPS"),
    )


def _row(known_kind: KnownKind) -> tuple[str, ...]:
    stretches = known_kind.complete
    by = dict.fromkeys(word for stretch in stretches for word in stretch.by)
    return (
        plural_of(*known_kind.pair),
        few_of(known_kind.namespaces, _NAMES_SHOWN, ",") or "all",
        few_of(
            [_reach("rv:", known_range.first, known_range.last) for known_range in stretches],
            _SHOWN,
        )
        or NONE,
        few_of([_reach("rv:", *hole) for hole in _holes(stretches)], _SHOWN) or NONE,
        ", ".join(by),
    )


def _holes(stretches: tuple[KnownRange, ...]) -> list[tuple[int, int]]:
    """Return the first and last revision of each gap between known ranges."""
    return [(earlier.last + 1, later.first - 1) for earlier, later in pairwise(stretches)]

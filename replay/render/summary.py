"""The summary of an ingestion, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...engine.kubernetes.counts import counted
from .figures import pair_lines
from .tables import NONE, PLAIN, Style, Table, lines_of

if TYPE_CHECKING:
    from ..ingest.ingest_run import IngestSummary

_FILES_SHOWN = 10


def summary_lines(summary: IngestSummary, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield the summary of an ingestion: events by kind, what was skipped and why, the range."""
    if summary.kinds:
        rows = [[kind, str(count)] for kind, count in sorted(summary.kinds.items())]
        yield from lines_of(Table(("KIND", "NEW"), rows), style=style)
        yield "\n"
    if summary.skipped:
        rows = [
            [reason, str(count), summary.first_skipped.get(reason, NONE)]
            for reason, count in sorted(summary.skipped.items())
        ]
        yield from lines_of(Table(("SKIPPED", "RECORDS", "FIRST"), rows), style=style)
        yield "\n"
    yield from pair_lines(
        [
            ("new events", f"{summary.appended}, the log now ends at @{summary.last_position}"),
            ("already known", str(summary.known)),
            ("formats", _counts(summary.formats)),
            ("revisions", _span("rv:", summary.first_revision, summary.last_revision)),
            ("times", _span("", summary.first_observed, summary.last_observed)),
        ],
        style=style,
    )
    yield from _remarks(summary)


def _remarks(summary: IngestSummary) -> Iterator[str]:
    files = summary.skipped_files
    more_faults = summary.skipped.get("malformed", 0) - len(summary.malformed)
    more_files = len(files) - _FILES_SHOWN
    for line in (
        *(f"malformed: {fault}" for fault in summary.malformed),
        *([f"malformed: and {more_faults} more"] * (more_faults > 0)),
        *(f"skipped: {one.source}: {one.reason}" for one in files[:_FILES_SHOWN]),
        *([f"skipped: and {counted(more_files, 'more file')}"] * (more_files > 0)),
        *(f"note: {note}" for note in summary.notes),
    ):
        yield f"{line}\n"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in sorted(counts.items())) or NONE


def _span(prefix: str, first: object, last: object) -> str:
    return NONE if first is None else f"{prefix}{first} to {prefix}{last}"

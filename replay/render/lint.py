"""Findings as a table, as documents, and as annotations on GitHub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ...engine.kubernetes.counts import counted
from ...engine.volcano.session.history import SUPPORTED
from ..lint.findings import FILE, FaultEffect, Finding, FindingSeverity, FindingSubject
from ..lint.lint_rules import RULES
from ..lint.lint_task import Report
from ..lint.regions import Regions
from ..lint.shared_files import shared_files
from ..objects.kind_names import resource_name
from .screen import one_line
from .tables import (
    GAP,
    NONE,
    PLAIN,
    Style,
    Table,
    TextColumn,
    few_of,
    lines_of,
    paragraph,
    table_of,
)

_COMMANDS = MappingProxyType(
    {
        FindingSeverity.ERROR: "error",
        FindingSeverity.WARNING: "warning",
        FindingSeverity.NOTE: "notice",
    }
)


_NAMED = 5
"""The rules that a note names."""

_SENTENCES = frozenset({"MESSAGE", "DO"})
"""Columns that may go on in the next line."""

_READABLE = 40
"""Characters of a line at which a sentence reads well."""

_INDENT = "  "


def lint_lines(report: Report, *, wide: bool = False, style: Style = PLAIN) -> Iterator[str]:
    """Yield a table of findings; wide adds what to do and the field of the object.

    On a terminal that is too narrow for the table, each finding is written over several lines.
    """
    if not report.findings:
        return
    releases = TextColumn[Finding](
        "RELEASES", lambda finding: release_text(finding.releases, report.releases)
    )
    columns = [*_COLUMNS[:4], releases, *_COLUMNS[4:]]
    table = table_of(columns, report.findings, wide=wide)
    # Escaped before it is measured: an escape is longer than the character.
    table = table._replace(keep=table.headers, rows=[[*map(one_line, row)] for row in table.rows])
    if style.width is None or _width(table) <= style.width:
        yield from lines_of(table, style=style)
        return
    for row in table.rows:
        yield from _over_lines(dict(zip(table.headers, row, strict=True)), style)


def _width(table: Table) -> int:
    """Return how wide a terminal must be to show a table well, without a word shortened."""
    widths = [
        max(len(header), *map(_wide_enough if header in _SENTENCES else len, column))
        for header, column in zip(table.headers, zip(*table.rows, strict=True), strict=True)
    ]
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _wide_enough(text: str) -> int:
    return max(min(len(text), _READABLE), *map(len, text.split()))


def _over_lines(cells: Mapping[str, str], style: Style) -> Iterator[str]:
    """Yield the lines of a finding: the first is what is wrong where, the others are indented."""
    first = f"{cells['SEVERITY']}  {cells['WHERE']}  {cells['OBJECT']}"
    yield from (style.bold(line) for line in paragraph(first, style, indent=_INDENT))
    for text in (
        cells["MESSAGE"],
        f"{cells['RULE']}  {cells['RELEASES']}",
        *(f"{name.lower()}: {cells[name]}" for name in ("FIELD", "EFFECT", "DO") if name in cells),
    ):
        yield from paragraph(f"{_INDENT}{text}", style, indent="")


_COLUMNS: Sequence[TextColumn[Finding]] = (
    TextColumn("WHERE", lambda finding: str(finding.issue.subject.place or NONE)),
    TextColumn("SEVERITY", lambda finding: finding.severity.value),
    TextColumn("OBJECT", lambda finding: str(finding.issue.subject)),
    TextColumn("RULE", lambda finding: finding.rule),
    TextColumn("FIELD", lambda finding: finding.issue.field or NONE, wide=True),
    TextColumn("EFFECT", lambda finding: finding.issue.effect.value, wide=True),
    TextColumn("MESSAGE", lambda finding: finding.message),
    TextColumn("DO", lambda finding: finding.issue.now or NONE, wide=True),
)


def release_text(named: Sequence[str], of: Sequence[str]) -> str:
    """Return releases as text: ``all`` of several that were checked, or their ranges."""
    return "all" if len(named) == len(of) > 1 else ranges_text(named)


def ranges_text(named: Sequence[str]) -> str:
    """Return releases as ranges; in a range is every release of Volcano between its ends.

    :param named: the oldest first.
    """
    order = {str(release): number for number, release in enumerate(SUPPORTED)}
    runs: list[list[str]] = []
    for name in named:
        if runs and name in order and order[name] - 1 == order.get(runs[-1][-1]):
            runs[-1].append(name)
        else:
            runs.append([name])
    return ",".join(run[0] if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)


def lint_names(report: Report) -> Iterator[str]:
    """Yield the names of objects with findings, each once."""
    named = dict.fromkeys(_name(finding.issue.subject) for finding in report.findings)
    yield from (f"{name}\n" for name in named)


def _name(subject: FindingSubject) -> str:
    if not subject.group and subject.kind in {"SchedulerConfiguration", FILE}:
        return str(subject.place.file if subject.place else subject.name)
    name = subject.name.rpartition("/")[2]
    return f"{resource_name(subject.group, subject.kind)}/{name}"


def lint_annotations(report: Report) -> Iterator[str]:
    """Yield GitHub workflow commands: each shows a finding beside its line."""
    regions, files = Regions(), shared_files(report.files)
    for finding in report.findings:
        issue, place = finding.issue, finding.issue.subject.place
        where = ""
        if place is not None:
            line = regions.of(place, issue.field).line
            where = f"file={_escaped(files[place.file])},line={line},"
        releases = release_text(finding.releases, report.releases)
        text = f"{issue.subject}: {finding.message} ({releases})"
        command = _COMMANDS[finding.severity]
        yield f"::{command} {where}title={finding.rule}::{_escaped(text, ends=False)}\n"


def _escaped(text: str, *, ends: bool = True) -> str:
    """Escape characters that end a workflow command, or with ``ends`` one of its properties."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if ends else text


def lint_notes(report: Report) -> Iterator[str]:
    """Yield one line each: what was not read, assumed, or checked, and what no rule is about."""
    unread = (
        finding.issue.now
        for finding in report.findings
        if finding.issue.effect is FaultEffect.UNREAD
    )
    for now, count in Counter(unread).items():
        yield f"not read in {counted(count, 'place')}: {now}"
    if report.remark:
        yield report.remark
    yield from (f"assumed: {text}" for text in report.assumed)
    reasons: dict[str, list[str]] = {}
    for unchecked in report.not_checked:
        reasons.setdefault(unchecked.reason, []).append(unchecked.rule)
    for reason, names in reasons.items():
        yield f"not checked, as {reason}: {few_of(names, _NAMED)}"
    yield from map(str, report.not_rendered)
    if report.without_rules:
        kinds = [f"{count} {kind}" for kind, count in report.without_rules.items()]
        more = " kinds" * (len(kinds) > _NAMED)
        yield f"no rule is about {few_of(kinds, _NAMED)}{more}"


def lint_summary(report: Report) -> str:
    """Return the number of findings, as one line."""
    counts = report.counts
    parts = [
        f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts.items() if count
    ]
    counts_text = ", ".join(parts) or "nothing found"
    under = ranges_text(report.releases)
    objects = "1 object" if report.objects == 1 else f"{report.objects} objects"
    return f"{counts_text} in {objects}, under {under}"


def rule_lines(*, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lines of a table of all rules."""
    rows = [(rule.name, rule.group, rule.about.replace("``", "")) for rule in RULES]
    yield from lines_of(Table(("RULE", "GROUP", "FINDS"), rows, keep=("FINDS",)), style=style)

"""Findings of ``lint`` as a review."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ...engine.events.input_names import without_folders
from ..lint.findings import Finding, Severity, Subject
from ..lint.regions import Regions
from ..lint.rules import RULES
from ..lint.task import Report
from ..render.figures import counted
from ..render.lint import ranges_text, release_text
from .records import FileRegion, Level, Result, Review, ReviewRule, Skipped

PAGE = "docs/reference/lint.md"


def lint_review(report: Report, failing: Collection[Severity]) -> Review:
    """Return findings as a review.

    :param failing: the severities with which the command fails.
    """
    regions = Regions()
    return Review(
        "lint",
        f"{counted(report.objects, 'object')}, for {ranges_text(report.releases)}",
        tuple(
            ReviewRule(rule.name, rule.about, rule.more, f"{PAGE}#{rule.name}") for rule in RULES
        ),
        tuple(_result(one, report, failing, regions) for one in report.findings),
        tuple(Skipped(one.rule, one.reason) for one in report.not_checked),
    )


def _result(
    finding: Finding, report: Report, failing: Collection[Severity], regions: Regions
) -> Result:
    issue, severity = finding.issue, finding.severity
    return Result(
        rule=finding.rule,
        level=Level(severity.value),
        key=f"{issue.field} {issue.effect.value}".strip(),
        object=str(issue.subject),
        message=f"{finding.message} ({release_text(finding.releases, report.releases)})",
        now=issue.now,
        region=_region(issue.subject, issue.field, regions),
        fails=severity in failing,
        more={"effect": issue.effect.value, "releases": list(finding.releases)},
    )


def _region(subject: Subject, field: str, regions: Regions) -> FileRegion | None:
    place = subject.place
    if place is None:
        return None
    found = regions.of(place, field)
    return FileRegion(_shared(place.file), found.line, found.column)


def _shared(file: str) -> str:
    """Return a path as others know it: from here, or without the folders of this machine."""
    path = Path(file)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        return path.relative_to(Path.cwd()).as_posix()
    return without_folders(file)

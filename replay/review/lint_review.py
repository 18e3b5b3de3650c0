"""Findings of ``lint`` as a review."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ...engine.kubernetes.counts import counted
from ..lint.findings import Finding, FindingSeverity, FindingSubject
from ..lint.lint_rules import RULES
from ..lint.lint_task import Report
from ..lint.regions import Regions
from ..lint.shared_files import shared_files
from ..render.lint import ranges_text, release_text
from .review_records import FileRegion, Level, Result, Review, ReviewRule, Skipped


class _Places(NamedTuple):
    """Where fields are in files, and how others know the files."""

    regions: Regions
    files: Mapping[str, str]


PAGE = "docs/reference/lint.md"


def lint_review(report: Report, failing: Collection[FindingSeverity]) -> Review:
    """Return findings as a review.

    :param failing: the severities with which the command fails.
    """
    places = _Places(Regions(), shared_files(report.files))
    return Review(
        "lint",
        f"{counted(report.objects, 'object')}, for {ranges_text(report.releases)}",
        tuple(
            ReviewRule(rule.name, rule.about, rule.more, f"{PAGE}#{rule.name}") for rule in RULES
        ),
        tuple(_result(finding, report, failing, places) for finding in report.findings),
        tuple(Skipped(unchecked.rule, unchecked.reason) for unchecked in report.not_checked),
    )


def _result(
    finding: Finding, report: Report, failing: Collection[FindingSeverity], places: _Places
) -> Result:
    issue, severity = finding.issue, finding.severity
    return Result(
        rule=finding.rule,
        level=Level(severity.value),
        key=f"{issue.field} {issue.effect.value}".strip(),
        kind=issue.subject.kind,
        name=issue.subject.name,
        message=f"{finding.message} ({release_text(finding.releases, report.releases)})",
        now=issue.now,
        region=_region(issue.subject, issue.field, places),
        fails=severity in failing,
        more={"effect": issue.effect.value, "releases": list(finding.releases)},
    )


def _region(subject: FindingSubject, field: str, places: _Places) -> FileRegion | None:
    place = subject.place
    if place is None:
        return None
    region = places.regions.of(place, field)
    return FileRegion(places.files[place.file], region.line, region.column)

"""Violations of invariants as a review."""

from __future__ import annotations

from types import MappingProxyType

from ...engine.invariants.invariant import Invariant, Severity
from ...engine.invariants.violation_timeline import Breach
from ...engine.kubernetes.counts import counted
from ..invariants.check_report import CheckReport, severity_of
from .review_records import Level, Result, Review, ReviewRule, Skipped

PAGE = "docs/how-to/check.md#the-invariants"

_LEVELS = MappingProxyType(
    {
        Severity.CRITICAL: Level.ERROR,
        Severity.HIGH: Level.ERROR,
        Severity.MEDIUM: Level.WARNING,
    }
)


def check_review(report: CheckReport) -> Review:
    """Return violations as a review; an invariant that was not checked is skipped."""
    left_out = [unchecked.invariant for unchecked in report.not_checked]
    return Review(
        "check",
        f"{counted(len(report.checked), 'invariant')} by {report.at}, as {report.release}",
        tuple(map(_rule, (*report.checked, *left_out))),
        tuple(map(_result, report.violations)),
        tuple(
            Skipped(unchecked.invariant.id, unchecked.reason) for unchecked in report.not_checked
        ),
    )


def _rule(invariant: Invariant) -> ReviewRule:
    return ReviewRule(invariant.id, invariant.statement, f"Name: {invariant.name}.", PAGE)


def _result(breach: Breach) -> Result:
    violation, severity = breach.violation, severity_of(breach)
    since = f"since @{breach.since.position}"
    until = "" if breach.until is None else f" until @{breach.until.position}"
    return Result(
        rule=breach.invariant.id,
        level=_LEVELS[severity],
        key=f"{violation.field}@{breach.since.position}",
        kind=violation.kind,
        name=violation.name,
        message=f"{violation.message} ({since}{until})",
        more={"severity": severity.value, "since": breach.since.position},
    )

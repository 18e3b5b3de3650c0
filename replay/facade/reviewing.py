"""Results for code review and for pipelines, as ``-o sarif`` and ``-o junit`` print them."""

from __future__ import annotations

from typing import Any, TypeAlias

from ...engine.errors import UsageError
from ..compare.verdict import Upgrade
from ..fidelity.report import Fidelity
from ..invariants.check_report import CheckReport
from ..lint.findings import FindingSeverity
from ..lint.lint_task import Report
from ..review.check_review import check_review
from ..review.fidelity_review import fidelity_review
from ..review.junit import junit_text
from ..review.lint_review import lint_review
from ..review.review_records import Review
from ..review.sarif import sarif_document
from ..review.upgrade_review import upgrade_review

Reviewed: TypeAlias = Report | CheckReport | Upgrade | Fidelity
"""What has a review: results of ``lint``, ``check``, ``upgrade_check`` and ``fidelity``."""


def sarif(result: Reviewed, *, strict: bool = False) -> dict[str, Any]:
    """Return a result in the format SARIF 2.1.0, for json.dump.

    :param strict: of ``lint``: warnings are failures, too.
    :raises UsageError: the result is of another method.
    """
    return sarif_document(_review(result, strict=strict))


def junit(result: Reviewed, *, strict: bool = False) -> str:
    """Return a result as JUnit XML, whose failures are those of the command's exit code.

    :param strict: of ``lint``: warnings are failures, too.
    :raises UsageError: the result is of another method.
    """
    return junit_text(_review(result, strict=strict))


def _review(result: Reviewed, *, strict: bool) -> Review:
    match result:
        case Report():
            more = {FindingSeverity.WARNING} if strict else set()
            return lint_review(result, {FindingSeverity.ERROR, *more})
        case CheckReport():
            return check_review(result)
        case Upgrade():
            return upgrade_review(result, unfold=False)
        case Fidelity():
            return fidelity_review(result, unfold=False)
    raise UsageError(
        f"a {type(result).__name__} is no review",
        now="give a result of lint, check, upgrade_check or fidelity",
    )

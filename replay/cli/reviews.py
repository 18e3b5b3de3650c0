"""The output forms for code review and pipelines, which several commands have."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..review.review_records import Review

SARIF, JUNIT = REVIEWS = ("sarif", "junit")


def write_review(review: Review, output: str) -> None:
    """Write a review to standard output.

    :param output: one of :data:`REVIEWS`.
    """
    if output == SARIF:
        from ..render.documents import json_text
        from ..review.sarif import sarif_document

        sys.stdout.write(json_text(sarif_document(review), indent=2) + "\n")
    else:
        from ..review.junit import junit_text

        sys.stdout.write(junit_text(review))

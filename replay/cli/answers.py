"""How commands write an answer: as a document, as a review, or as lines for people."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .shell import before_output, write_lines

if TYPE_CHECKING:
    from ..review.review_records import Review

SARIF, JUNIT = REVIEWS = ("sarif", "junit")
"""The forms for code review and pipelines, which several commands have."""


def write_json(document: Any, *, indent: int = 4) -> None:
    """Write a document as JSON to standard output."""
    from ..render.documents import json_text

    before_output()
    sys.stdout.write(json_text(document, indent=indent) + "\n")


def write_answer(document: Any, lines: Iterable[str], output: str, *, indent: int = 4) -> None:
    """Write an answer to standard output.

    :param document: for ``json`` and ``yaml``. :param lines: for people.
    """
    if output == "json":
        write_json(document, indent=indent)
    elif output == "yaml":
        from ..render.documents import plain, write_yaml

        before_output()
        write_yaml(sys.stdout, [plain(document)], single=True)
    else:
        write_lines(lines)


def marked(document: Any, names: Sequence[str], *, assume: bool) -> Any:
    """Return a document that says what was assumed for releases that are not known.

    :param names: of the releases that were named. :param assume: others may stand for them.
    """
    if not assume:
        return document
    from ..render.documents import plain
    from ..sessions.assumed import taken_release

    taken_by_name = {name: taken_release(name, assume=True) for name in names}
    assumed = {name: taken.release for name, taken in taken_by_name.items() if taken.remark}
    return {**plain(document), "assumed": assumed} if assumed else document


def write_review(review: Review, output: str) -> None:
    """Write a review to standard output.

    :param output: one of :data:`REVIEWS`.
    """
    if output == SARIF:
        from ..review.sarif import sarif_document

        write_json(sarif_document(review), indent=2)
    else:
        from ..review.junit import junit_text

        sys.stdout.write(junit_text(review))

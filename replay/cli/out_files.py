"""Files to write after ``-o`` of commands that have one form: a form there is a mistake."""

from __future__ import annotations

from pathlib import PurePath

_FORMS = frozenset(
    (
        *("text", "table", "wide", "name", "json", "yaml", "ndjson", "jsonl", "csv", "parquet"),
        *("html", "svg", "png", "github", "sarif", "junit"),
    )
)
_OF_KUBECTL = ("jsonpath=", "jsonpath-file=", "custom-columns=", "go-template=")

_OF_OTHERS = frozenset((".json", ".ndjson", ".yaml", ".yml", ".csv", ".txt", ".md", ".pdf", ".png"))
"""Suffixes of files that hold no HTML."""


def refuse_form(out: str, *, writes: str, example: str) -> None:
    """Refuse a form of output where a file is expected: ``-o json`` of other commands is none.

    :param writes: what the command writes. :param example: how to name a file.
    :raises UsageError: it is the name of a form.
    """
    from ...engine.errors import UsageError

    if out in _FORMS or out.startswith(_OF_KUBECTL):
        raise UsageError(
            f"{out} is a form of output, and no file; this command writes {writes} to a file",
            now=f"name the file, as in {example}",
        )


def refuse_suffix(out: str, *, example: str) -> None:
    """Refuse a file for an HTML page whose suffix says that it holds something else.

    :raises UsageError: it is one.
    """
    from ...engine.errors import UsageError

    suffix = PurePath(out).suffix.lower()
    if suffix in _OF_OTHERS:
        raise UsageError(
            f"the suffix {suffix} is not that of an HTML page, which this command writes",
            where=out,
            now=f"name another file, as in {example}",
        )

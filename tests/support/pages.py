"""The documents of the project, for tests that read them."""

from __future__ import annotations

import re
from functools import cache

from tree import ROOT, files

DOCUMENTS = tuple(path for path in files() if path.endswith(".md"))
FENCE = re.compile(r"^(```|~~~)(\w*)[^\n]*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


@cache
def text_of(path: str) -> str:
    """Return a document's text."""
    return (ROOT / path).read_text("utf-8")


def slug(heading: str) -> str:
    """Return the anchor that a heading gets where Markdown is rendered."""
    plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")

"""Excerpts of objects, such as the rows of a Table: a log cannot store them."""

from __future__ import annotations

import re

from ...errors import FormatUnknown

EXCERPTS = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})
"""Kinds of answers of an API server to requests for less than whole objects."""

_TABLE, _PARTIAL = b"Table", b"PartialObjectMetadata"
_EXCERPT = re.compile(
    rb"""(?m)(?:"kind"\s*:\s*"|^[- ]*kind[ \t]*:[ \t]*)(%s)(?:"|\s*$)"""
    % "|".join(sorted(EXCERPTS)).encode()
)


def excerpt_in(head: bytes) -> str:
    """Return the kind of excerpt that a document begins with, empty if there is none."""
    if _TABLE not in head and _PARTIAL not in head:
        return ""  # A search for words is much faster than one for a pattern.
    match = _EXCERPT.search(head)
    return match[1].decode() if match else ""


def excerpt_refused(kind: str, where: str) -> FormatUnknown:
    """Return the error for a document that has excerpts (a Table, say)."""
    return FormatUnknown(
        f"{kind} holds excerpts of objects, without their spec or status",
        where=where,
        now="fetch whole objects: kubectl get ... -o json, or a request without an Accept header"
        " that asks for as=Table or as=PartialObjectMetadata",
    )

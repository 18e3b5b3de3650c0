"""Recognises a document's format, after what its lines are wrapped in was removed."""

from __future__ import annotations

from .format_registry import recognise
from .reading.formats import Context, Format
from .reading.inputs import Document
from .reading.wrappings import Unwrapped, Wrapping, cut_begin, hides_lines, wrapping_of

_LIKE_WRAPPED = frozenset({"audit-log", "object-list"})
"""Formats that a record of a collector, or an array of records, looks like."""

_BY_LINE = frozenset({"audit-log", "watch-stream"})
"""Formats with one record a line, which can be read from any line on."""

_OF_LINES = frozenset({"klog", "panic"})
_MOST = 6
"""Wrappings around each other."""


def recognise_document(document: Document, context: Context) -> Format | None:
    """Return the format of a document; its stream is then that of plain lines.

    What was removed is a note of the context.

    :raises EventMalformed: JSON around the lines is malformed (through ``context.reject``).
    """
    if document.encoding:
        context.notes.append(f"decoded from {document.encoding}")
    known = _plain(document, context)
    if known is not None:
        return known
    # A log that was cut to a size begins within a line; the second one is whole.
    _, _, rest = document.head.partition(b"\n")
    if rest.lstrip()[:1] != b"{":
        return None
    later = recognise(rest, document.name)
    if (later is not None and later.name in _BY_LINE) or wrapping_of(rest) is not None:
        _remove(cut_begin(), document, context)
        return _plain(document, context)
    return None


def _plain(document: Document, context: Context) -> Format | None:
    """Return the format of a document, after all wrappings were removed."""
    for _ in range(_MOST):
        known = recognise(document.head, document.name)
        if known is not None and known.name in _OF_LINES and not hides_lines(document.head):
            return known
        if known is not None and known.name not in {*_OF_LINES, *_LIKE_WRAPPED}:
            return known
        wrapping = wrapping_of(document.head)
        if wrapping is None:
            return known
        _remove(wrapping, document, context)
    return recognise(document.head, document.name)


def _remove(wrapping: Wrapping, document: Document, context: Context) -> None:
    inner, before = Unwrapped(wrapping, document.stream, context), context.outer
    document.replace(inner.buffered())
    # The last wrapping that was removed is the innermost: its lines are counted back first.
    context.outer = lambda line: before(inner.outer(line))
    context.notes.append(f"read without {wrapping.name}")
    context.removed.append(wrapping.name)

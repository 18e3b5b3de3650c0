r"""Paths of fields as people write them: ``spec.capability.cpu``, with one syntax everywhere.

A dot separates names. In a name it may be escaped, as in ``nvidia\.com/gpu``; names of resources,
labels and annotations may also have their dots as they are.
"""

from __future__ import annotations

_ESCAPED_DOT, _DOT_IN_NAME = "\\.", "\0"


def split_path(text: str) -> tuple[str, ...]:
    """Return the names of a path; an escaped dot is part of a name."""
    names = text.replace(_ESCAPED_DOT, _DOT_IN_NAME).split(".")
    return tuple(name.replace(_DOT_IN_NAME, ".") for name in names)


def path_text(names: tuple[str, ...]) -> str:
    """Return a path as text, with the dots of names escaped."""
    return ".".join(name.replace(".", _ESCAPED_DOT) for name in names)

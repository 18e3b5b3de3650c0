"""Values that are too long to be read in a message."""

from __future__ import annotations

import re

from .errors import LONGEST_VALUE

_HEAD, _TAIL = 120, 40
_QUOTED = re.compile("'[^']*'" + '|"[^"]*"')
_WORD = re.compile(r"\S+")
_LONGEST_LINE = 4000


def without_middles(message: str) -> str:
    """Return a message without the middle of its long values, and without its end if it is long."""
    text = _WORD.sub(_without_middle, _QUOTED.sub(_without_middle, message))
    if len(text) > _LONGEST_LINE:
        text = f"{text[:_LONGEST_LINE]}… ({len(text) - _LONGEST_LINE:,} more characters)"
    return text


def _without_middle(found: re.Match[str]) -> str:
    value = found[0]
    if len(value) <= LONGEST_VALUE:
        return value
    left_out = len(value) - _HEAD - _TAIL
    return f"{value[:_HEAD]}… ({left_out:,} characters) …{value[-_TAIL:]}"

"""Values that are too long for a message."""

from __future__ import annotations

import re
from functools import partial

_HEAD, _TAIL = 120, 40
_QUOTED = re.compile("'[^']*'" + '|"[^"]*"')
_WORD = re.compile(r"\S+")
_LONGEST_LINE = 4000


def without_middles(message: str, longest: int) -> str:
    """Return a message without the middle of its long values, and without its end if it is long.

    :param longest: how many characters a value may have and still be quoted whole.
    """
    shorten = partial(_without_middle, longest)
    text = _WORD.sub(shorten, _QUOTED.sub(shorten, message))
    if len(text) > _LONGEST_LINE:
        text = f"{text[:_LONGEST_LINE]}… ({len(text) - _LONGEST_LINE:,} more characters)"
    return text


def _without_middle(longest: int, found: re.Match[str]) -> str:
    value = found[0]
    if len(value) <= longest:
        return value
    left_out = len(value) - _HEAD - _TAIL
    return f"{value[:_HEAD]}… ({left_out:,} characters) …{value[-_TAIL:]}"

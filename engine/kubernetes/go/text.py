"""How Go reads numbers and booleans from texts such as annotations."""

from __future__ import annotations

import re

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DIGITS = 19
"""No int64 has more."""

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


def parse_bool(text: str) -> bool | None:
    """Return a text as a boolean; None if it is not one.

    Source: strconv.ParseBool.
    """
    if text in _TRUE:
        return True
    return False if text in _FALSE else None


def parse_int(text: str, bits: int = 64) -> int | None:
    """Return a text as an integer of that many bits; None if it is not one, or too large.

    Source: strconv.ParseInt with base 10.
    """
    if not _INTEGER.fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0")
    if len(digits) > _DIGITS:
        return None
    number = -int(digits or "0") if text[0] == "-" else int(digits or "0")
    bound = 1 << (bits - 1)
    return number if -bound <= number < bound else None

"""Go's regular expressions, as far as Python's can stand for them.

Source: Go regexp/syntax (RE2): https://pkg.go.dev/regexp/syntax.
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType

_POSIX = MappingProxyType(
    {
        "alnum": "0-9A-Za-z",
        "alpha": "A-Za-z",
        "ascii": r"\x00-\x7f",
        "blank": r"\t ",
        "cntrl": r"\x00-\x1f\x7f",
        "digit": "0-9",
        "graph": "!-~",
        "lower": "a-z",
        "print": " -~",
        "punct": r"!-/:-@\[-`{-~",
        "space": r"\t\n\v\f\r ",
        "upper": "A-Z",
        "word": r"0-9A-Za-z_",
        "xdigit": "0-9A-Fa-f",
    }
)

_CLASS_PART = re.compile(r"\[:(?P<name>[a-z]+):\]|\\.|.", re.DOTALL)

_TOKEN = re.compile(
    r"""
    (?P<literal>\\Q.*?(?:\\E|$))
    | \[(?P<class>\^?\]?(?:\[:[a-z]+:\]|\\.|[^\]])*)\]
    | (?P<end>\\z)
    | (?P<foreign>\\[1-9GXZ] | \(\?(?:[=!>#(]|<[=!]|P=) | [*+?}][+] )
    | \\. | .
    """,
    re.VERBOSE | re.DOTALL,
)


@lru_cache(maxsize=1024)
def compile_go(pattern: str) -> re.Pattern[str]:
    """Return the pattern compiled; ``search`` is Go's ``MatchString``.

    :raises ValueError: Go would not compile it (look-around, back references …), or Python cannot.
    """
    try:
        return re.compile(_TOKEN.sub(_translated, pattern), re.ASCII)
    except re.error as fault:
        raise ValueError(f"error parsing regexp: {fault}") from fault


def _translated(token: re.Match[str]) -> str:
    if token["foreign"] is not None:
        raise ValueError(f"invalid or unsupported Perl syntax: {token[0]!r}")
    if token["literal"] is not None:
        return re.escape(token[0][2:].removesuffix("\\E"))
    if token["class"] is not None:
        return f"[{_CLASS_PART.sub(_translated_in_class, token['class'])}]"
    return r"\Z" if token["end"] is not None else token[0]


def _translated_in_class(part: re.Match[str]) -> str:
    if part["name"] is None:
        return rf"\{part[0]}" if part[0] == "[" else part[0]
    if part["name"] not in _POSIX:
        raise ValueError(f"invalid character class range: {part[0]!r}")
    return _POSIX[part["name"]]

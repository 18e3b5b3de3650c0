"""In which encoding a text is: UTF-8, or UTF-16 as PowerShell writes it with ``>``."""

from __future__ import annotations

import codecs
from types import MappingProxyType
from typing import Final

UTF_8_MARK = codecs.BOM_UTF8
_MARKS: Final = MappingProxyType(
    {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
)
_SEEN = 64
_LEAST = 4


def wide_encoding(head: bytes) -> str:
    """Return the encoding of a text in UTF-16, as Python names it; empty if it is in none.

    Without a byte order mark, it is UTF-16 if every other of its first bytes is zero.

    :param head: the first bytes of the text.
    """
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    start = head[:_SEEN]
    first, second = start[::2], start[1::2]
    if len(second) < _LEAST:
        return ""
    if not any(second) and _is_text(first):
        return "utf-16-le"
    return "utf-16-be" if not any(first) and _is_text(second) else ""


def text_of(data: bytes) -> str:
    """Return the text of a file that a person wrote, in UTF-8 or UTF-16, without its mark.

    :raises UnicodeDecodeError: it is in neither.
    """
    return data.decode(wide_encoding(data) or "utf-8").removeprefix("\ufeff")


def _is_text(some: bytes) -> bool:
    return some.isascii() and not some.translate(None, b"\t\r\n").strip(bytes(range(32, 127)))

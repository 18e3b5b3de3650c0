r"""Safe output to a terminal: control characters in names, messages and actors have no effect.

A person who may name an object in a cluster must not control the terminal of a person who looks at
it. So all output of a command passes through a :class:`Screen`, which writes control characters as
``\u001b``: those of ASCII and Latin-1, and those that change the direction of text or separate
lines. In JSON that is the same string. Plinian's own colours are marked by characters that UTF-8
text cannot hold.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO, cast

from ...engine.errors import shortened

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_FIRST_MARK = 0xDC00
"""A lone surrogate; Python makes those from 0xDC80 on from bytes that are not UTF-8."""

SGR: Mapping[str, str] = MappingProxyType(
    {chr(_FIRST_MARK + int(code)): code for code in ("0", "1", "31", "32", "33")}
)
"""The colour of each mark, as a terminal's codes; marks are lone surrogates."""

MARKS: Mapping[str, str] = MappingProxyType({code: mark for mark, code in SGR.items()})
"""The mark of each colour."""

_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_HOSTILE_SET = f"\x00-\x1f\x7f-\x9f{_DIRECTIONS}\u2028\u2029\ufff9-\ufffb"
_HOSTILE = re.compile(f"[{_HOSTILE_SET}\ud800-\udfff]")
_BREAKS = frozenset("\t\n")
"""What is hostile only within a line."""

_ASCII_CONTROLS = bytes([*range(0x09), *range(0x0B, 0x20), 0x7F])

_ENCODING = "utf-8"


def escaped(text: str) -> str:
    """Return text with its control characters escaped; new lines and tabs stay.

    Marks of colours stay as well: only :class:`Screen` knows whether there is colour.
    """
    return text if _is_plain(text) else _HOSTILE.sub(_spelled_but_breaks, text)


def one_line(text: str) -> str:
    """Return text as one line, as for a table's cell: new lines and tabs are escaped too."""
    return text if text.isprintable() else _HOSTILE.sub(_spelled_but_marks, text)


def is_plain(text: str) -> bool:
    """Return whether a text has nothing to escape, and no new line."""
    return text.isprintable() or _HOSTILE.search(text) is None


def _is_plain(text: str) -> bool:
    """Return True only for harmless text; a quick check, which may be False for harmless text."""
    if text.isprintable():
        return True
    return text.isascii() and len(text.encode().translate(None, _ASCII_CONTROLS)) == len(text)


def _spelled(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _spelled_but_breaks(match: re.Match[str]) -> str:
    return match[0] if match[0] in _BREAKS else _spelled_but_marks(match)


def _spelled_but_marks(match: re.Match[str]) -> str:
    return match[0] if match[0] in SGR else _spelled(match)


def _line(text: str) -> str:
    """Return a line of a renderer, escaped; new lines at its ends are the renderer's own."""
    # The last character may be the line's end.
    if text[:-1].isprintable():
        return text
    end = len(text.rstrip("\n"))
    start = len(text) - len(text.lstrip("\n"))
    return f"{text[:start]}{text[start:end].replace(chr(10), _NEW_LINE)}{text[end:]}"


_NEW_LINE = "\\u000a"


class Screen(io.TextIOBase):
    """A stream of text that escapes control characters and turns marks into colours.

    Text for :meth:`write` may have several lines; each text for :meth:`writelines` is one line, so
    a new line inside it is escaped too.

    :param out: the stream beneath; ``raw`` returns it, for code that draws by itself.
    :param messages: the stream is for messages: overlong values in them are shortened.
    """

    def __init__(self, out: TextIO, *, messages: bool = False) -> None:
        self.raw = out
        self._messages = messages
        self._terminal = out.isatty()

    def write(self, text: str) -> int:
        """Write text, and return the number of its characters."""
        if not isinstance(text, str):
            raise TypeError("a screen accepts text only")
        cut = shortened(text) if self._messages else text
        shown = cut if _is_plain(cut) else _HOSTILE.sub(self._shown, cut)
        try:
            self.raw.write(shown)
        # The stream has another encoding, as ASCII under LANG=C.
        except UnicodeEncodeError:
            encoding = self.raw.encoding
            self.raw.write(shown.encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:  # type: ignore[override]
        """Write lines, each with its line end."""
        for line in lines:
            self.write(_line(line))

    def _shown(self, match: re.Match[str]) -> str:
        code = SGR.get(match[0])
        return _spelled_but_breaks(match) if code is None else f"\x1b[{code}m"

    @property
    def buffer(self) -> io.RawIOBase | io.BufferedIOBase:
        """The stream of bytes: unchanged for a program, escaped for a terminal."""
        if self._terminal:
            return _Bytes(self)
        return cast("io.BufferedIOBase", self.raw.buffer)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of accepted text: characters that the stream cannot write are escaped."""
        return _ENCODING

    def flush(self) -> None:
        """Write out what is buffered."""
        self.raw.flush()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._terminal

    def fileno(self) -> int:
        """Return the number of the stream beneath."""
        return self.raw.fileno()

    def writable(self) -> bool:
        """Return True."""
        return True


class _Bytes(io.RawIOBase):
    """Bytes for a terminal."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        raw = bytes(data)
        self._screen.write(raw.decode("utf-8", "backslashreplace"))
        return len(raw)

    def flush(self) -> None:
        self._screen.flush()

r"""The border to a terminal: what names, messages and actors hold is shown, and never obeyed.

Whoever may name an object in a cluster must not drive the terminal of who looks at it. So all that
a command prints passes a :class:`Screen`, which writes control characters as ``\u001b``: those of
ASCII and of Latin-1, and what turns the direction of text or parts lines. In JSON that is the same
string. Our own colours are marked by characters that no UTF-8 text can hold.
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
"""A lone surrogate; Python makes those from 0xDC80 on of bytes that are no UTF-8."""

SGR: Mapping[str, str] = MappingProxyType(
    {chr(_FIRST_MARK + int(code)): code for code in ("0", "1", "31", "32", "33")}
)
"""Marks to the colours that they stand for, as a terminal's codes; lone surrogates."""

MARKS: Mapping[str, str] = MappingProxyType({code: mark for mark, code in SGR.items()})
"""Colours to their marks."""

_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_HOSTILE_SET = f"\x00-\x08\x0b-\x1f\x7f-\x9f{_DIRECTIONS}\u2028\u2029\ufff9-\ufffb"
_HOSTILE = re.compile(f"[{_HOSTILE_SET}\ud800-\udfff]")
_IN_A_LINE = re.compile(f"[{_HOSTILE_SET}\t\n\ud800-\udfff]")
_ASCII_CONTROLS = bytes([*range(0x09), *range(0x0B, 0x20), 0x7F])

_ENCODING = "utf-8"


def escaped(text: str) -> str:
    """Return text with its control characters spelled; new lines and tabs stay.

    Marks of colours stay as well: only :class:`Screen` knows whether there is colour.
    """
    return text if _is_plain(text) else _HOSTILE.sub(_spelled_but_marks, text)


def one_line(text: str) -> str:
    """Return text in one line: new lines and tabs are spelled too, in a table's cell, say."""
    return text if text.isprintable() else _IN_A_LINE.sub(_spelled_but_marks, text)


def is_plain(text: str) -> bool:
    """Say whether a text has nothing that would be spelled, and no new line."""
    return text.isprintable() or _IN_A_LINE.search(text) is None


def _is_plain(text: str) -> bool:
    """Say quickly that a text is harmless; False is said of some that are."""
    if text.isprintable():
        return True
    return text.isascii() and len(text.encode().translate(None, _ASCII_CONTROLS)) == len(text)


def _spelled(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _spelled_but_marks(found: re.Match[str]) -> str:
    return found[0] if found[0] in SGR else _spelled(found)


def _line(text: str) -> str:
    """Return a line that a renderer yields; new lines at its ends are the renderer's own."""
    if text[:-1].isprintable():
        return text
    end = len(text.rstrip("\n"))
    start = len(text) - len(text.lstrip("\n"))
    return f"{text[:start]}{text[start:end].replace(chr(10), _NEW_LINE)}{text[end:]}"


_NEW_LINE = "\\u000a"


class Screen(io.TextIOBase):
    """A stream of text that spells control characters, and turns marks into colours.

    What is given to :meth:`write` may have lines of its own; each text that is given to
    :meth:`writelines` is one line, so a new line inside of it is spelled too.

    :param out: where it goes; ``raw`` gives it back, for what draws by itself.
    :param messages: it is for messages: values in them that are too long are shortened.
    """

    def __init__(self, out: TextIO, *, messages: bool = False) -> None:
        self.raw = out
        self._messages = messages
        self._terminal = out.isatty()

    def write(self, text: str) -> int:
        """Write text, and return how many characters were given."""
        if not isinstance(text, str):
            raise TypeError("a screen takes text")
        told = shortened(text) if self._messages else text
        shown = told if _is_plain(told) else _HOSTILE.sub(self._shown, told)
        try:
            self.raw.write(shown)
        except UnicodeEncodeError:
            encoding = self.raw.encoding
            self.raw.write(shown.encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:  # type: ignore[override]
        """Write lines, each with its line end."""
        for line in lines:
            self.write(_line(line))

    def _shown(self, found: re.Match[str]) -> str:
        code = SGR.get(found[0])
        return _spelled(found) if code is None else f"\x1b[{code}m"

    @property
    def buffer(self) -> io.RawIOBase | io.BufferedIOBase:
        """The stream of bytes: as it is for a program, spelled for a terminal."""
        if self._terminal:
            return _Bytes(self)
        return cast("io.BufferedIOBase", self.raw.buffer)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """What a text may hold: anything; what the stream cannot say is spelled."""
        return _ENCODING

    def flush(self) -> None:
        """Write out what is buffered."""
        self.raw.flush()

    def isatty(self) -> bool:
        """Say whether a person reads."""
        return self._terminal

    def fileno(self) -> int:
        """Return the number of the stream beneath."""
        return self.raw.fileno()

    def writable(self) -> bool:
        """Say yes."""
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

"""YAML as Kubernetes reads it: the JSON values that ``sigs.k8s.io/yaml`` returns.

The parser is libyaml's, but plain words are not read as by PyYAML: ``12:30:45`` and dates stay
text, ``yes`` and ``y`` are true, ``012`` and ``0o12`` are ten, ``1e3`` is a thousand. The table of
outcomes in ``tests/ingest/test_yaml.py`` was recorded from version 1.4.0 of that library.

Values are built event by event, so that a reader can take the items of a long list one at a time.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from types import MappingProxyType
from typing import Any, BinaryIO, Final, NamedTuple

import yaml

from ..nesting import MAX_DEPTH, TOO_DEEP

MAX_VALUES = 400_000
"""The most values of one object after aliases are expanded: aliases multiply."""

MOST_REPEATED = 4 * MAX_VALUES
"""The most values that the aliases of a document stand for, in all its objects together."""

_TEXT_PER_VALUE = 16
"""This many bytes of text count as the memory of one value."""

MAX_BYTES = 16 * 2**20
"""The most bytes of text of one object after expansion, including quotes and keys."""

_WORDS: Final = MappingProxyType(
    {
        **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE"), True),
        **dict.fromkeys(("on", "On", "ON"), True),
        **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE"), False),
        **dict.fromkeys(("off", "Off", "OFF"), False),
        **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
        **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
        **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
        **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    }
)
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)"
    r"|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9]\d*))",
    re.ASCII,
)
_FLOAT = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?", re.ASCII)
_TAG = "tag:yaml.org,2002:"
_BOOL = f"{_TAG}bool"
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Only its parser is used. If PyYAML was built without libyaml, it is the slow one."""

_LIBYAML_TOO_DEEP = "maximum nesting depth"
"""How libyaml's own limit reads. It looks ahead, so it may refuse a text before the reader does."""

_MANY_DIGITS = 64
"""An integer with so many digits is a float, or a text, and takes long to convert."""

_EXACT_FLOAT = 1e21
"""From here on Go writes a float with an exponent."""


class YamlFault(ValueError):
    """A text that is not YAML, or cannot be converted to JSON; ``line`` is 1-based.

    :param cut: the text ends too early.
    """

    def __init__(self, what: str, line: int, *, cut: bool = False) -> None:
        super().__init__(what)
        self.line = line
        self.cut = cut


class _Anchored(NamedTuple):
    """The value of an anchor.

    :param size: its values after expansion, and :param bytes: of texts.
    :param height: how many levels it has.
    """

    value: Any
    size: int
    bytes: int
    height: int


class YamlReader:
    """Reads YAML event by event, and builds values from the events.

    :param repeated: gets each key that a mapping has already, with the 1-based line of its value;
        the last value counts. Without it, such a key is a fault.
    :param most: the most values of one object, after aliases are expanded.
    :param blocks: gets each block of text, with the line before it.
    :raises YamlFault: from every method.
    """

    def __init__(
        self,
        stream: BinaryIO,
        *,
        repeated: list[tuple[int, str]] | None = None,
        most: int = MAX_VALUES,
        blocks: list[tuple[int, str]] | None = None,
    ) -> None:
        self._repeated, self._most = repeated, most
        self._blocks = blocks
        self._guard = _EndWatch(stream)
        self._parser = _LOADER(self._guard)
        self._anchors: dict[str, _Anchored] = {}
        self._values = self._bytes = self._kept = 0
        self._repeats = 0  # Values that aliases of the document stand for.
        self._deepest = 0
        self._line = 1

    @property
    def line(self) -> int:
        """The line on which the last event began, 1-based."""
        return self._line

    def next(self) -> yaml.Event:
        """Take the next event."""
        self._guard.since = 0
        try:
            event: yaml.Event = self._parser.get_event()
        except _TooLong:
            what = f"a text of more than {MAX_BYTES // 2**20} MiB, or one without an end"
            raise YamlFault(what, self._line) from None
        except yaml.MarkedYAMLError as fault:
            mark = fault.problem_mark or fault.context_mark
            line = mark.line + 1 if mark else self._line
            problem = fault.problem or fault.context or "unreadable"
            what = TOO_DEEP if _LIBYAML_TOO_DEEP in problem else f"not YAML: {problem}"
            # Only a fault at the end of what was read can come from a cut.
            raise YamlFault(
                what, line, cut=self._guard.ended and line >= self._guard.lines
            ) from None
        except yaml.YAMLError as fault:
            reason = getattr(fault, "reason", "") or str(fault).splitlines()[0]
            raise YamlFault(f"not YAML: {reason}", self._line) from None
        self._line = event.start_mark.line + 1 if event.start_mark else self._line
        if isinstance(event, yaml.DocumentStartEvent):
            self._anchors, self._kept, self._repeats = {}, 0, 0
            self.begin_object()
        return event

    def value(self, event: yaml.Event, depth: int = 0) -> Any:
        """Build the value that begins with an event; this reads all its other events.

        :param depth: the number of levels around it.
        """
        self._count(1)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, depth)
        before, bytes_before, outer = self._values, self._bytes, self._deepest
        self._deepest = depth
        built: Any
        if isinstance(event, yaml.ScalarEvent):
            built = self._scalar(event)
            if self._blocks is not None and event.style == "|":
                self._blocks.append((self._line, event.value))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._go_down(depth + 1)
            built = []
            while not isinstance(item := self.next(), yaml.SequenceEndEvent):
                built.append(self.value(item, depth + 1))
        else:
            self._go_down(depth + 1)
            built = self._mapping(depth)
        # Only when the value is complete: an alias within it would be a circle.
        anchor = getattr(event, "anchor", None)
        if anchor:
            height = self._deepest - depth
            size, texts = self._values - before + 1, self._bytes - bytes_before
            self._anchors[anchor] = _Anchored(built, size, texts, height)
            self._kept += size + texts // _TEXT_PER_VALUE
            if self._kept > MAX_VALUES:
                raise YamlFault("the anchors of this YAML stand for too much", self._line)
        self._deepest = max(self._deepest, outer)
        return built

    def _go_down(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise YamlFault(TOO_DEEP, self._line)
        self._deepest = max(self._deepest, depth)

    def key(self, event: yaml.Event) -> str:
        """Return a mapping's key as a JSON string."""
        if not isinstance(event, yaml.ScalarEvent):
            raise YamlFault("a key of a mapping is no scalar", self._line)
        key = self._scalar(event)
        if key is None:
            raise YamlFault("a key of a mapping is null", self._line)
        if isinstance(key, bool):
            return "true" if key else "false"
        return key if isinstance(key, str) else f"{key}"

    def _mapping(self, depth: int) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        merged: dict[str, None] = {}
        while not isinstance(key := self.next(), yaml.MappingEndEvent):
            line = self._line
            if isinstance(key, yaml.ScalarEvent) and key.value == "<<" and key.implicit[0]:
                for source in self._merge(self.value(self.next(), depth + 1), line):
                    mapping |= source
                    merged |= dict.fromkeys(source)
                continue
            name = self.key(key)
            # What << brought may be written again: it is overridden.
            again = name in mapping and name not in merged
            if again and self._repeated is None:
                raise YamlFault(f"the key {name[:60]!r} occurs twice in one mapping", line)
            event, line = self.next(), self._line
            mapping[name] = self.value(event, depth + 1)
            if again and self._repeated is not None:
                self._repeated.append((line, name))
        return mapping

    def _merge(self, value: Any, line: int) -> list[dict[str, Any]]:
        """Return the mappings merged by ``<<``, the strongest last; they override earlier keys."""
        mappings = value if isinstance(value, list) else [value]
        if not all(isinstance(mapping, dict) for mapping in mappings):
            raise YamlFault("<< needs a mapping, or a list of mappings", line)
        return mappings[::-1]

    def _alias(self, event: yaml.AliasEvent, depth: int) -> Any:
        anchored = self._anchors.get(event.anchor or "")
        if anchored is None:
            raise YamlFault(f"the anchor {event.anchor!r} is not known", self._line)
        self._count(anchored.size, anchored.bytes)
        self._repeats += anchored.size + anchored.bytes // _TEXT_PER_VALUE
        if self._repeats > MOST_REPEATED:
            raise YamlFault("the aliases of this YAML stand for too much", self._line)
        self._go_down(depth + anchored.height)
        return anchored.value

    def begin_object(self) -> None:
        """Reset the counts of values and texts: the next object begins."""
        self._values = self._bytes = 0

    def _count(self, values: int, size: int = 0) -> None:
        self._values += values
        self._bytes += size
        if self._values > self._most:
            raise YamlFault(f"this YAML unfolds to more than {self._most:,} values", self._line)
        if self._bytes > MAX_BYTES:
            what = f"this YAML unfolds to more than {MAX_BYTES // 2**20} MiB"
            raise YamlFault(f"{what}, which no object has", self._line)

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        self._count(0, len(event.value))
        try:
            return scalar(event.value, event.tag, plain=bool(event.implicit[0]))
        except ValueError as fault:
            raise YamlFault(str(fault), self._line) from None


class _TooLong(Exception):
    """A single event has more bytes than an object may have."""


class _EndWatch:
    """A stream that counts its lines, and notes its end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.lines = 1
        self.ended = False
        self.since = 0  # Bytes, since the last event began to be read.

    def read(self, size: int = -1, /) -> bytes:
        """Return at most ``size`` bytes, none at the end."""
        piece = self._stream.read(size)
        self.since += len(piece)
        if self.since > 2 * MAX_BYTES:
            raise _TooLong
        self.lines += piece.count(b"\n")
        self.ended = self.ended or not piece
        return piece


def scalar(text: str, tag: str | None = None, *, plain: bool = True) -> Any:
    """Return the value of a scalar.

    :param tag: as written, in full; None if there is none.
    :param plain: it is not quoted.
    :raises ValueError: it does not match its tag, or has no JSON form.
    """
    if tag is None or tag == "!":
        value = resolve(text) if plain and tag is None else text
    elif tag == f"{_TAG}binary":
        value = _binary(text)
    elif tag in _TYPES:
        # By its type in YAML, where 1.0 is no integer. In Python a bool is an int as well.
        value, meant = resolve(text), resolve_yaml(text)
        if not isinstance(meant, _TYPES[tag]) or isinstance(meant, bool) is not (tag == _BOOL):
            raise ValueError(f"{text[:60]!r} is no {tag.removeprefix(_TAG)}")
    else:
        value = text
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{text!r} is a number that JSON does not have")
    return value


_TYPES: Final = MappingProxyType(
    {
        f"{_TAG}int": int,
        f"{_TAG}float": int | float,
        _BOOL: bool,
        f"{_TAG}null": type(None),
    }
)


def _binary(text: str) -> str:
    try:
        return base64.b64decode(text, validate=False).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise ValueError("!!binary that is no text") from None


def resolve(text: str) -> Any:
    """Return the JSON value of a plain scalar: a constant, a number, or its text."""
    meant = resolve_yaml(text)
    if isinstance(meant, float) and meant.is_integer() and abs(meant) < _EXACT_FLOAT:
        # JSON has one kind of number: Go writes a float without a fraction as it writes an integer.
        return int(meant)
    return meant


def resolve_yaml(text: str) -> Any:
    """Return the value of a plain scalar: a constant, an integer, a float, or its text.

    Source: gopkg.in/yaml.v2/resolve.go.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    plain = text.replace("_", "")
    integer = _INTEGER.fullmatch(plain)
    if integer is not None and len(plain) < _MANY_DIGITS:
        return _integer(integer)
    if _FLOAT.fullmatch(plain) is None:
        return text
    number = float(plain)
    return text if math.isinf(number) else number


def _integer(match: re.Match[str]) -> int | float:
    for name, base in (("hex", 16), ("bin", 2), ("oct", 8), ("dec", 10)):
        digits = match[name]
        if digits is not None:
            number = int(digits, base)
            break
    number = -number if match["sign"] == "-" else number
    if -(2**63) <= number < 2**64:
        return number
    return float(number)

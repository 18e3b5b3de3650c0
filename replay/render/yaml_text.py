"""JSON values as YAML: exactly PyYAML's text, several times as fast.

PyYAML makes a node of every value and checks for each which type it may be read as. Objects of a
cluster repeat the same few hundred strings: this module joins lines, and calls PyYAML once for
every string that is not certainly plain.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
import yaml

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_PLAIN = re.compile(r"[A-Za-z0-9_/](?:[A-Za-z0-9_./=+,()@-]| (?=[A-Za-z0-9_./])|:(?=[A-Za-z0-9]))*")
"""Strings that need no quotes unless they look like numbers, times and the like."""

_WIDTH = 4096
_LONG = 1000
"""The longest string that PyYAML never breaks into lines, at any depth."""

_STRINGS = 65_536
"""The number of strings whose text is kept, about 10 MB."""


class _TextDependsOnPlace(Exception):
    """A string whose text depends on its place, as when a line is broken."""


class YamlWriter:
    """Writes values as YAML; it caches the text of strings, so keep one for many values."""

    def __init__(self) -> None:
        resolve: Callable[..., str] = yaml.resolver.Resolver().resolve
        self._resolve = resolve
        self._string = lru_cache(_STRINGS)(self._string_text)
        self._key = lru_cache(_STRINGS)(self._key_text)

    def text(self, value: Any) -> str:
        """Return a value as a block of YAML with sorted keys, as ``yaml.safe_dump`` would.

        :param value: decoded JSON, with no object in it twice.
        """
        parts: list[str] = []
        try:
            if isinstance(value, dict) and value:
                self._add_members(parts, value, "", "")
            elif isinstance(value, list) and value:
                self._add_elements(parts, value, "", "")
            else:
                return _dumped(value)
        except _TextDependsOnPlace:
            return _dumped(value)
        return "".join(parts)

    def _add_members(
        self, parts: list[str], members: dict[str, Any], margin: str, first: str
    ) -> None:
        """Add the lines of an object; ``first`` precedes its first key, as after a dash."""
        before = first
        for key in sorted(members):
            parts.append(f"{before}{self._key(key)}:")
            self._add_value(parts, members[key], margin, f"{margin}  ", "\n")
            before = margin

    def _add_elements(self, parts: list[str], elements: list[Any], margin: str, first: str) -> None:
        before = first
        for element in elements:
            parts.append(f"{before}-")
            self._add_value(parts, element, f"{margin}  ", f"{margin}  ", " ")
            before = margin

    def _add_value(
        self, parts: list[str], value: Any, of_list: str, of_object: str, gap: str
    ) -> None:
        """Add the value that follows a key or a dash.

        :param of_list: margin of a list here. :param of_object: margin of an object.
        :param gap: the text before its first line: the rest of a dash's line, or a new line.
        """
        if isinstance(value, str):
            text = self._string(value)
            # The text is that of a key at the margin: its further lines go in as deep as this one.
            if "\n" in text:
                text = text.replace("\n  ", f"\n{of_object}")
            parts.append(f" {text}\n")
        elif isinstance(value, dict) and value:
            # After a dash the first key stands in the same line.
            first = gap if gap == " " else f"\n{of_object}"
            self._add_members(parts, value, of_object, first)
        elif isinstance(value, list) and value:
            first = gap if gap == " " else f"\n{of_list}"
            self._add_elements(parts, value, of_list, first)
        else:
            parts.append(f" {_other_text(value)}\n")

    def _string_text(self, value: str) -> str:
        """Return a string as the value of a key at the margin."""
        if len(value) > _LONG:
            raise _TextDependsOnPlace
        if _PLAIN.fullmatch(value):
            # Text such as 1e3, no or 2026-01-01 would be read as another type: it needs quotes.
            tag = self._resolve(yaml.ScalarNode, value, (True, False))
            return value if tag == yaml.resolver.Resolver.DEFAULT_SCALAR_TAG else f"'{value}'"
        return _as_member(value)

    def _key_text(self, key: str) -> str:
        text = _dumped({key: 0})
        if len(key) > _LONG or not text.endswith(": 0\n") or text.startswith("? "):
            raise _TextDependsOnPlace
        return text.removesuffix(": 0\n")


def _other_text(value: Any) -> str:
    """Return the text of a value that is neither a string, a list nor an object."""
    if isinstance(value, float):
        return _as_member(value)
    return msgspec.json.encode(value).decode()  # null, true, 7, {} and [] are alike


def _as_member(value: Any) -> str:
    return _dumped({"a": value}).removeprefix("a: ").removesuffix("\n")


def _dumped(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=_DUMPER, default_flow_style=False, width=_WIDTH)
    return text

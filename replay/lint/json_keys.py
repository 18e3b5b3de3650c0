"""Keys that an object of JSON has twice, with their lines; decoders keep the last one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from .objects import RepeatedKey

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[{}\[\]:\n]')


class _Open(NamedTuple):
    """An object or an array that is not closed yet. :param key: under which it stands."""

    is_object: bool
    key: str
    keys: set[str]


def repeated_keys(text: bytes | bytearray, line: int) -> Iterator[tuple[int, RepeatedKey]]:
    """Yield for each such key the number of the item that has it, from 0, and where it is again.

    :param text: well formed JSON: an object, a list of Kubernetes, or an array.
    :param line: on which it begins.
    """
    stack: list[_Open] = []
    key, before, item = "", b"", -1
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == b"\n":
            line += 1
            continue
        if token == b":" and stack:
            key = json.loads(before)
            if key in stack[-1].keys:
                yield max(item, 0), RepeatedKey(line, key)
            stack[-1].keys.add(key)
        elif token in b"{[":
            item += token == b"{" and _holds_items(stack)
            stack.append(_Open(token == b"{", key, set()))
        elif token in b"}]":
            stack.pop()
        before = token


def _holds_items(stack: list[_Open]) -> bool:
    """Return whether what is opened now is an item of a list, or of an array of objects."""
    if len(stack) == 1:
        return not stack[0].is_object
    return len(stack) == 2 and not stack[1].is_object and stack[1].key == "items"

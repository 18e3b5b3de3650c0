"""Parts of objects in canonical form, each distinct one encoded once.

Most parts of a version are the same in the version before: its ``spec``, its labels. So the
canonical form of a part is cached by the bytes in which it was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ...events import canonical_json
from ...nesting import MAX_DEPTH, hold_depth
from .json_text import repeated_key
from .sizes import hold_object

HELD_BYTES = 32 * 2**20
"""Approximate size at which the cache is cleared."""

NOTHING = msgspec.Raw()
"""Stands for a part that an object does not have."""

_LEVELS = MAX_DEPTH - 2
"""A part that is nested deeper may be too deep in its object."""

_ENTRY_BYTES = 500
"""Bytes of an entry besides its texts."""

_DECODE = msgspec.json.Decoder().decode


class Fragment(msgspec.Struct, frozen=True, gc=False):
    """A JSON object in canonical form.

    :param surplus: bytes that it had more when it was sent: white space, and needless escapes.
    :param lacking: it lacks something; see :class:`Fragments`.
    """

    canonical: msgspec.Raw
    surplus: int
    lacking: bool = False


_NO_FRAGMENT = Fragment(NOTHING, 0)


def _lacks_nothing(_value: dict[str, Any]) -> bool:
    return False


class Fragments:
    """Caches the canonical forms of JSON objects, up to a bound.

    :param held_bytes: the bound.
    :param lacks: whether a JSON object lacks something; it may change the object.
    """

    def __init__(
        self,
        held_bytes: int = HELD_BYTES,
        *,
        lacks: Callable[[dict[str, Any]], bool] = _lacks_nothing,
    ) -> None:
        self._held_bytes = held_bytes
        self._lacks = lacks
        self._bytes = 0
        self._known: dict[bytes, Fragment] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, raw: msgspec.Raw) -> Fragment | None:
        """Return the canonical form of a text; None if it is not a JSON object, or repeats a key.

        :raises msgspec.DecodeError: it is not JSON. :raises RecursionError: it is nested too deep.
        :raises UnicodeDecodeError: it is not UTF-8.
        """
        if raw is NOTHING:
            return _NO_FRAGMENT
        text = bytes(raw)
        return self._known.get(text) or self._add(text)

    def _add(self, text: bytes) -> Fragment | None:
        hold_object(text)
        value = _DECODE(text)
        hold_depth(value, text, most=_LEVELS)
        canonical = canonical_json(value)
        surplus = len(text) - len(canonical)
        # What is as long as its canonical form has no key twice.
        if not isinstance(value, dict) or (surplus and repeated_key(text, canonical) is not None):
            return None
        size = len(text) + len(canonical) + _ENTRY_BYTES
        self._bytes += size
        if self._bytes > self._held_bytes:
            self._known.clear()
            self._bytes = size
        fragment = self._known[text] = Fragment(
            msgspec.Raw(canonical), surplus, lacking=self._lacks(value)
        )
        return fragment

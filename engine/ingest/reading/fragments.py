"""Parts of objects in canonical form, each distinct one made once.

Most of an object's version is what the version before it was: its ``spec``, its labels. So such a
part is looked up by the bytes in which it was sent.
"""

from __future__ import annotations

import msgspec

from ...events import canonical_json
from ...nesting import MAX_DEPTH, hold_depth
from .json_text import repeated_key
from .sizes import hold_object

HELD_BYTES = 32 * 2**20
"""How much is remembered, about, before all of it is forgotten."""

NOTHING = msgspec.Raw()
"""What a part is that an object does not have."""

_LEVELS = MAX_DEPTH - 2
"""What is nested deeper than that may be too deep in an object."""

_ENTRY_BYTES = 500
"""What an entry takes besides the texts in it."""

_DECODE = msgspec.json.Decoder().decode


class Fragment(msgspec.Struct, frozen=True, gc=False):
    """A JSON object in canonical form.

    :param surplus: by how many bytes it was sent longer: white space, and escapes without need.
    """

    canonical: msgspec.Raw
    surplus: int


_NO_FRAGMENT = Fragment(NOTHING, 0)


class Fragments:
    """Remembers the canonical forms of JSON objects, up to a bound.

    :param held_bytes: the bound.
    """

    def __init__(self, held_bytes: int = HELD_BYTES) -> None:
        self._held_bytes = held_bytes
        self._bytes = 0
        self._known: dict[bytes, Fragment] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, raw: msgspec.Raw) -> Fragment | None:
        """Return the canonical form of a text; None if it is no JSON object, or repeats a key.

        :raises msgspec.DecodeError: it is no JSON. :raises RecursionError: it is nested too deep.
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
        if not isinstance(value, dict) or (surplus and repeated_key(text, canonical) is not None):
            return None
        size = len(text) + len(canonical) + _ENTRY_BYTES
        self._bytes += size
        if self._bytes > self._held_bytes:
            self._known.clear()
            self._bytes = size
        fragment = self._known[text] = Fragment(msgspec.Raw(canonical), surplus)
        return fragment

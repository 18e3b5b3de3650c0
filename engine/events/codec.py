"""Canonical bytes of a payload, which are stored and hashed."""

from __future__ import annotations

from typing import Any

import msgspec

_ENCODER = msgspec.json.Encoder(order="sorted")


def canonical_json(value: Any) -> bytes:
    """Encode a value as JSON with sorted keys and no white space: equal values have equal bytes.

    Specified in ``docs/storage.md``.
    """
    return _ENCODER.encode(value)

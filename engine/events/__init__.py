"""One vocabulary of events: what was observed, and the bytes that say so."""

from .codec import canonical_json, header_bytes
from .kinds import (
    KINDS,
    Effect,
    Event,
    KindInfo,
    Recorded,
    Reference,
    kind_of_version,
    noun_of,
)

__all__ = [
    "KINDS",
    "Effect",
    "Event",
    "KindInfo",
    "Recorded",
    "Reference",
    "canonical_json",
    "header_bytes",
    "kind_of_version",
    "noun_of",
]

"""The vocabulary of events, and their canonical bytes."""

from .codec import canonical_json
from .kinds import (
    GENERATED,
    KINDS,
    NO_TIME,
    Effect,
    Event,
    KindInfo,
    Recorded,
    Reference,
    kind_of_version,
    noun_of,
)

__all__ = [
    "GENERATED",
    "KINDS",
    "NO_TIME",
    "Effect",
    "Event",
    "KindInfo",
    "Recorded",
    "Reference",
    "canonical_json",
    "kind_of_version",
    "noun_of",
]

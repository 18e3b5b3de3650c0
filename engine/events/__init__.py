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
    may_come_back,
    noun_of,
)
from .owning import OwnerName, is_owner

__all__ = [
    "GENERATED",
    "KINDS",
    "NO_TIME",
    "Effect",
    "Event",
    "KindInfo",
    "OwnerName",
    "Recorded",
    "Reference",
    "canonical_json",
    "is_owner",
    "kind_of_version",
    "may_come_back",
    "noun_of",
]

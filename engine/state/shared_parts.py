"""Let facts share what many of them have alike, so that large clusters take less memory.

A decoder makes each text and each amount again. All parts are immutable or never changed, so
nothing shows whether they are shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from sys import intern
from types import MappingProxyType

import msgspec

from ..events import Reference
from .facts import Fact, JobFact, NodeFact, PodFact, PodGroupFact, Resources

_KEPT = 4096
"""Encoded amounts whose decoded form is kept."""

_set = msgspec.structs.force_setattr
_encoded = msgspec.msgpack.Encoder().encode
_decoded = msgspec.msgpack.Decoder(Resources).decode

_TEXTS: Mapping[type[Fact], tuple[str, ...]] = MappingProxyType(
    {
        PodFact: ("node", "phase", "status", "scheduler", "podgroup", "job", "queue"),
        PodGroupFact: ("phase", "queue", "priority_class"),
        JobFact: ("phase", "queue", "priority_class"),
        NodeFact: ("ready", "version"),
    }
)
_AMOUNTS: Mapping[type[Fact], tuple[str, ...]] = MappingProxyType(
    {
        PodFact: ("requests",),
        PodGroupFact: ("min_resources",),
        NodeFact: ("allocatable", "capacity"),
    }
)


def share(reference: Reference, fact: Fact) -> None:
    """Replace parts of a fact that was just decoded, and of its reference, by equal ones."""
    # The structs are frozen; nothing else refers to this one yet.
    _set(reference, "group", intern(reference.group))
    _set(reference, "kind", intern(reference.kind))
    _set(reference, "namespace", intern(reference.namespace))
    labels = fact.labels
    for name, text in labels.items():
        labels[name] = intern(text)  # No other object has it yet.
    for name in _TEXTS.get(type(fact), ()):
        _set(fact, name, intern(getattr(fact, name)))
    for name in _AMOUNTS.get(type(fact), ()):
        _set(fact, name, _amounts(_encoded(getattr(fact, name))))


@lru_cache(_KEPT)
def _amounts(data: bytes) -> Resources:
    return _decoded(data)

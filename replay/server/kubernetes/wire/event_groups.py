"""Events under both of their groups: ``v1`` and ``events.k8s.io/v1`` show the same objects.

Source: k8s.io/kubernetes pkg/apis/events/v1/conversion.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from .....engine.kubernetes.resources import GroupKind
from .api_resources import EVENT, NEW_EVENT

EVENTS = (EVENT, NEW_EVENT)
"""The kinds of events."""

_NEW: Mapping[str, str] = MappingProxyType(
    {
        "involvedObject": "regarding",
        "message": "note",
        "source": "deprecatedSource",
        "firstTimestamp": "deprecatedFirstTimestamp",
        "lastTimestamp": "deprecatedLastTimestamp",
        "count": "deprecatedCount",
        "reportingComponent": "reportingController",
    }
)
"""The fields that have other names in ``events.k8s.io/v1``."""

_OLD: Mapping[str, str] = MappingProxyType({new: old for old, new in _NEW.items()})


def one_pair(kind: GroupKind) -> GroupKind:
    """Return the kind under which objects are kept: events of both groups are the same."""
    return EVENT if kind == NEW_EVENT else kind


def event_in_group(body: bytes, group: str) -> bytes:
    """Return an event in the version of a group; unchanged if it is stored so."""
    document: dict[str, Any] = msgspec.json.decode(body)
    wanted = f"{group}/v1" if group else "v1"
    if document.get("apiVersion") == wanted:
        return body
    names = _NEW if group else _OLD
    renamed = {names.get(field, field): value for field, value in document.items()}
    return msgspec.json.encode({**renamed, "apiVersion": wanted}, order="sorted")

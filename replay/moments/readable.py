"""The objects of a moment that a cluster can hold: without those that cannot be decoded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...engine.cache.projector import WATCHED
from ...engine.kubernetes.objects import Undecodable, decode
from ...engine.kubernetes.resources import GroupKind
from .coverage import unknown_at
from .log import Log
from .moment import Moment
from .unknown import Unknown


def undecodable_at(log: Log, moment: Moment, kinds: Iterable[GroupKind]) -> list[Unknown]:
    """Return which objects of some kinds have a field that tables show and that is odd."""
    return [one for one in unknown_at(log, moment, kinds) if one.fault]


def readable_at(log: Log, moment: Moment, kinds: Iterable[GroupKind]) -> list[dict[str, Any]]:
    """Return the objects of some kinds at a moment, but for those that cannot be decoded."""
    asked = list(kinds)
    odd = {(one.pair, *one.objects) for one in undecodable_at(log, moment, asked)}
    return [
        document
        for pair in asked
        for document in log.get(pair, at=moment)
        if (pair, _full_name(document)) not in odd and _decodes(pair, document)
    ]


def _full_name(document: dict[str, Any]) -> str:
    metadata = document["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def _decodes(pair: GroupKind, document: dict[str, Any]) -> bool:
    kind = WATCHED.get(pair)
    try:
        return kind is None or decode(kind, document) is not None
    except Undecodable:
        return False

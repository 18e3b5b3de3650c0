"""The objects of a moment that a cluster can hold: without those that cannot be decoded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...engine.cache.projector import WATCHED
from ...engine.events import OwnerName, is_owner
from ...engine.kubernetes.objects import Undecodable, decode
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind
from ..coverage.coverage import unknown_at
from ..moments.moment import Moment
from ..moments.unknown import Unknown
from .log import Log


def undecodable_at(log: Log, moment: Moment, kinds: Iterable[GroupKind]) -> list[Unknown]:
    """Return which objects of some kinds have a field that tables show and that is odd."""
    return [unknown for unknown in unknown_at(log, moment, kinds) if unknown.fault]


def readable_at(log: Log, moment: Moment, kinds: Iterable[GroupKind]) -> list[dict[str, Any]]:
    """Return the objects of some kinds at a moment, but for those that cannot be decoded."""
    asked = list(kinds)
    odd = {(unknown.pair, *unknown.objects) for unknown in undecodable_at(log, moment, asked)}
    return [
        with_owners(document, log, moment)
        for pair in asked
        for document in log.get(pair, at=moment)
        if (pair, _full_name(document)) not in odd and _decodes(pair, document)
    ]


def with_owners(document: dict[str, Any], log: Log, moment: Moment) -> dict[str, Any]:
    """Return an object that names its owners by the uids that they have in the log.

    An owner whose input had no uid has a generated one: kind and name say that it is meant.
    """
    metadata = document["metadata"]
    named = metadata.get("ownerReferences")
    if not isinstance(named, list) or not named:
        return document
    place = metadata.get("namespace") or ""
    uids = [_uid_of(owner, place, log, moment) for owner in named]
    if not any(uids):
        return document
    owners = [
        {**owner, "uid": uid} if uid else owner for owner, uid in zip(named, uids, strict=True)
    ]
    return {**document, "metadata": {**metadata, "ownerReferences": owners}}


def _uid_of(named: Any, place: str, log: Log, moment: Moment) -> str:
    """Return the uid in the log of an owner whose input had none; empty of all others."""
    if not isinstance(named, dict):
        return ""
    version, kind, name = (str(named.get(key) or "") for key in ("apiVersion", "kind", "name"))
    pair = (version.rpartition("/")[0], kind)
    entry = log.truth(moment).find(*pair, "" if pair in CLUSTER_SCOPED else place, name)
    if entry is None or entry.reference.uid == named.get("uid"):
        return ""
    owner = OwnerName(version, kind, name, str(named.get("uid") or ""))
    return entry.reference.uid if is_owner(entry.reference, owner) else ""


def _full_name(document: dict[str, Any]) -> str:
    metadata = document["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def _decodes(pair: GroupKind, document: dict[str, Any]) -> bool:
    kind = WATCHED.get(pair)
    try:
        return kind is None or decode(kind, document) is not None
    except Undecodable:
        return False

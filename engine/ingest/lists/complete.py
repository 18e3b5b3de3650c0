"""Complete lists: which objects there were, and how much of the cluster that speaks for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ...errors import FormatUnknown
from ...events import Event, Reference, canonical_json
from ...events.payloads import ListObserved
from ...kubernetes.resources import CLUSTER_SCOPED
from ..reading.formats import Context

EXCERPTS = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})
"""What an API server sends when it is asked for less than whole objects."""

_EXCERPT = re.compile(
    rb"""(?m)(?:"kind"\s*:\s*"|^[- ]*kind[ \t]*:[ \t]*)(%s)(?:"|\s*$)"""
    % "|".join(sorted(EXCERPTS)).encode()
)


def excerpt_in(head: bytes) -> str:
    """Return the kind of excerpt that a document begins with, empty if there is none."""
    found = _EXCERPT.search(head)
    return found[1].decode() if found else ""


def scope(
    group: str, kind: str, namespaces: Collection[str], *, among: Iterable[str] = ()
) -> tuple[str, ...] | None:
    """Return the namespaces that a list of a kind covers; empty for all, None if nothing tells.

    A list does not say what was asked for. Objects of two namespaces come from a request for all;
    those of one may come from a request for that one, and no more is concluded.

    :param namespaces: of the objects of this kind, without repetition; ``""`` for the cluster's.
    :param among: of all that one request gave, where that is more.
    """
    if "" in namespaces or (group, kind) in CLUSTER_SCOPED:
        return ()
    if not namespaces:
        return None
    seen = {*namespaces, *among} - {""}
    return tuple(namespaces) if len(seen) == 1 else ()


def list_event(
    context: Context,
    *,
    group: str,
    kind: str,
    namespaces: tuple[str, ...],
    uids: Iterable[str],
    resource_version: str,
    line: int,
    exact: bool,
) -> Event:
    """Make the ``list.observed`` of one kind; ``resource_version`` must be a decimal number.

    What a list lacks that was asked for at a time came after that time, if the list's revision is
    exact.
    """
    # The scope is part of the reference, so that lists of two namespaces at one revision differ.
    namespace = namespaces[0] if namespaces else ""
    payload = ListObserved(
        group=group,
        listed=kind,
        namespaces=namespaces,
        uids=tuple(sorted(uids)),
        exact=exact,
    )
    return Event(
        kind="list.observed",
        reference=Reference(group, kind, namespace),
        payload=canonical_json(payload),
        resource_version=resource_version,
        revision=int(resource_version),
        earliest=context.taken_at[0] if context.taken_at and exact else None,
        latest=context.received_at(line),
        source=context.source,
        line=line,
        cluster=context.cluster,
    )


def excerpt_refused(kind: str, where: str) -> FormatUnknown:
    """Return the error for objects that are no whole objects (a Table, say)."""
    return FormatUnknown(
        f"{kind} holds excerpts of objects, without what they were meant to be (spec) or are"
        " (status)",
        where=where,
        now="fetch whole objects: kubectl get ... -o json, or a request without an Accept header"
        " that asks for as=Table or as=PartialObjectMetadata",
    )

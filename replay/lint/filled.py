"""Objects of files as an API server stores them: fields that it sets are filled in, on a copy.

Rules about what is written look at the manifests; these objects are what the other rules read.
A Job is left as it is written: the minima of its tasks depend on the release, so the code that
reads a Job treats a missing field as its default.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ...engine.events.payloads import AssumedField
from ...engine.ingest.objects.object_defaults import fill_in
from ...engine.ingest.reading.formats import Context
from ...engine.kubernetes.resources import CLUSTER_SCOPED_KINDS
from .objects import BATCH, Manifest, copied

_JOB = (BATCH, "Job")
_ROOM = "status.allocatable"
COMPARED = frozenset({"Queue", "Job", "PodGroup", "Pod"})
"""Kinds whose amounts are compared with the room of nodes, and limited by a plugin."""


def filled(manifest: Manifest, namespace: str, context: Context) -> dict[str, Any]:
    """Return an object as an API server would store it, and count in a context what it lacked.

    :param namespace: that of objects that name none.
    """
    # An object of a log went through an API server already.
    if manifest.place is None or manifest.group_kind == _JOB:
        return manifest.document
    document: dict[str, Any] = copied(manifest.document)
    metadata = document.get("metadata")
    if isinstance(metadata, dict) and manifest.group_kind[1] not in CLUSTER_SCOPED_KINDS:
        metadata["namespace"] = metadata.get("namespace") or namespace
    fill_in(document, context)
    return document


def resting(fields: Iterable[AssumedField], kinds: Collection[str]) -> Iterator[AssumedField]:
    """Yield the fields that were assumed, and that a check of some kinds rests on.

    An API server gives all else to each object that is created, so that is not assumed. What a
    node has room for is said by the node, not by who creates it.
    """
    yield from (
        field for field in fields if field.field == _ROOM and not COMPARED.isdisjoint(kinds)
    )

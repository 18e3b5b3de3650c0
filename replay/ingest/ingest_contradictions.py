"""Inputs that have another content of a version that the log has.

A resourceVersion is given once: two contents mean that somebody edited an input, or joined inputs
of two clusters. The log keeps both, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ...engine.events import Event
from ...engine.ingest.objects.redaction import is_redacted
from ...engine.log import LogStore
from ...engine.log.store import Appended

CONTRADICTED = "version.contradicted"


def contradicted(
    store: LogStore, batch: Sequence[Event], appended: Appended, branch: str
) -> Iterator[Event]:
    """Yield an event for each version of a batch that the log has with another content.

    :param appended: the result of appending the batch.
    """
    positions = sorted(set(appended.met.values()))
    payloads = store.payloads(positions, branch) if positions else {}
    before = {place: payloads[position] for place, position in appended.met.items()}
    # Two contents may also be within the batch.
    before |= {place: batch[first].payload for place, first in appended.repeated.items()}
    for place in sorted(before):
        event = batch[place]
        if event.payload != before[place] and contradict(event.payload, before[place]):
            yield msgspec.structs.replace(event, kind=CONTRADICTED, revision=None, schema=1)


def contradict(one: bytes, other: bytes) -> bool:
    """Return whether two contents of one version cannot both be true.

    The API server converts an object to the API version of the request, and a redacted input
    lacks values: such contents differ, and are no contradiction.
    """
    first, second = _essence(one), _essence(other)
    if first is None or second is None or first.get("apiVersion") != second.get("apiVersion"):
        return False
    return first != second and not is_redacted(one) and not is_redacted(other)


def _essence(payload: bytes) -> dict[str, Any] | None:
    document = msgspec.json.decode(payload)
    if not isinstance(document, dict):
        return None
    metadata = document.get("metadata")
    if isinstance(metadata, dict):
        # kubectl leaves managedFields out, and older API servers write selfLink.
        metadata.pop("managedFields", None)
        metadata.pop("selfLink", None)
        annotations = metadata.get("annotations")
        if isinstance(annotations, dict):  # It is long, and some people leave it out.
            annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
            if not annotations:
                del metadata["annotations"]
    return document

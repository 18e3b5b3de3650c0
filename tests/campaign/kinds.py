"""Each field of each kind with a value of another type: the cells of its table, and a write.

An object that an API server would never hold is in the log, or is sent to a branch. A cell must be
made of the first, and a write of the second must be refused or accepted; neither may fail.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import msgspec
from wrong_types import full, wrongs

from plinian.engine.errors import EventMalformed
from plinian.engine.events import Reference
from plinian.engine.state.clock import span_at
from plinian.engine.state.extract import extract_fact
from plinian.engine.state.truth_fold import Entry
from plinian.replay.server.kubernetes.read.forms import Shaper
from plinian.replay.server.kubernetes.read.openapi_v3 import schema_of
from plinian.replay.server.kubernetes.wire.api_paths import ApiPath
from plinian.replay.server.kubernetes.wire.api_resources import ApiResource, catalog_of
from plinian.replay.server.kubernetes.wire.api_status import StatusError
from plinian.replay.server.kubernetes.wire.list_options import AnswerForm, ObjectShape
from plinian.replay.server.kubernetes.write.bodies import WriteRequest
from plinian.replay.server.kubernetes.write.validation import validated

NOW = span_at(1_800_000_000_000_000)
_NAMES = {"name": "a", "namespace": "ml", "uid": "u", "resourceVersion": "1"}


class Figures(NamedTuple):
    """What a campaign found.

    :param tried: how many objects, and ``kinds``: of how many kinds. :param faults: a line for each
        that failed.
    """

    tried: int
    kinds: int
    faults: tuple[str, ...]


def resources() -> list[ApiResource]:
    """Return the resources whose kind has a schema."""
    return [one for one in catalog_of({}, []).resources if schema_of(one) is not None]


def document_of(resource: ApiResource) -> dict[str, Any]:
    """Return an object of a kind with all its fields."""
    schema = schema_of(resource)
    assert schema is not None
    made: dict[str, Any] = full(schema)
    head = {"apiVersion": resource.group_version, "kind": resource.kind}
    return {**made, **head, "metadata": {**made["metadata"], **_NAMES}}


def run(seed: int = 1, count: int = 200, seconds: float = 60.0) -> Figures:
    """Try objects; the same for the same seed.

    :param count: how many at most. :param seconds: after which none is tried.
    """
    until = time.monotonic() + seconds
    known = resources()
    left = [(one, wrongs(document_of(one))) for one in Random(seed).sample(known, len(known))]
    tried, faults = 0, list[str]()
    while left and tried < count and time.monotonic() < until:
        resource, some = left.pop(0)  # The kinds take turns.
        following = next(some, None)
        if following is None:
            continue
        left.append((resource, some))
        path, value, document = following
        tried += 1
        where = f"{resource.kind} {'.'.join(map(str, path))} = {value!r}"
        faults += (f"{where}: {fault}" for fault in faults_of(resource, document))
    return Figures(tried, len(known), tuple(faults))


def faults_of(resource: ApiResource, document: dict[str, Any]) -> Iterator[str]:
    """Yield what fails of an object."""
    try:
        _row(resource, document)
    except Exception as fault:  # noqa: BLE001 -- whatever it is, it is what is looked for
        yield f"its row: {fault!r}"
    asking = WriteRequest(
        "POST", ApiPath(resource, "ml", "a", ""), b"{}", "application/json", {}, ""
    )
    try:
        validated(asking, document, None)
    except StatusError as fault:
        if fault.code != 422:
            yield f"its write: {fault.code} {fault}"
    except Exception as fault:  # noqa: BLE001 -- likewise
        yield f"its write: {fault!r}"


def _row(resource: ApiResource, document: dict[str, Any]) -> None:
    body = msgspec.json.encode(document)
    try:
        fact = extract_fact(*resource.pair, body)
    except EventMalformed:  # No log holds it.
        return
    reference = Reference(*resource.pair, "ml", "a", "u")
    entry = Entry(reference=reference, position=1, revision=1, fact=fact)
    Shaper(AnswerForm(ObjectShape.TABLE, "v1", "Object"), resource, NOW).one(entry, body)

"""The events of one object that changed a part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ...engine.events import KINDS, Effect, Recorded
from ..logs.log import Log
from ..moments.moment import Moment
from .evidence import versions_of
from .finding import ObjectKey

Read = Callable[[Any], object]
"""Takes a document, and returns the part of it that matters."""


class PartChange(msgspec.Struct, frozen=True):
    """An event after which a part of an object was another than before.

    :param before: and ``after``: the part; None where the object did not exist.
    """

    recorded: Recorded
    before: object
    after: object


def changes_in(log: Log, moment: Moment, about: ObjectKey, read: Read) -> Iterator[PartChange]:
    """Yield the events of an object up to a moment that changed a part of it, in order.

    A recorded binding counts as a change of the part that has the node: versions of the pod may
    show it only later, or never.
    """
    before: object = None
    for recorded in versions_of(log, moment, about):
        effect = KINDS[recorded.event.kind].effect
        document = msgspec.json.decode(recorded.event.payload)
        if effect is Effect.BOUND:
            # It says nothing of other parts, which stay as they were.
            now = read({"spec": {"nodeName": document.get("node")}})
            if now is None:
                continue
        else:
            now = None if effect is Effect.DELETED else read(document)
        if now != before:
            yield PartChange(recorded, before, now)
        before = now


def last_change(log: Log, moment: Moment, about: ObjectKey, read: Read) -> list[Recorded]:
    """Return the last event that changed a part of an object, as a list of one; empty if none."""
    events = [part_change.recorded for part_change in changes_in(log, moment, about, read)]
    return events[-1:]


def node_of(document: Any) -> object:
    """Return the node of a pod."""
    return (document.get("spec") or {}).get("nodeName")


def spec_of(document: Any) -> object:
    """Return the spec of an object."""
    return document.get("spec")

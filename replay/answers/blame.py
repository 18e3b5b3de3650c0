"""Which events make up a number, and which one changed it last.

A number is a sum over pods (what a queue has allocated, what is used on a node), a sum over
PodGroups (what is reserved in a queue), or a field of the object itself.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...engine.errors import UsageError
from ..moments.coverage import document_of
from ..moments.kinds import ObjectName, plain_name
from ..moments.log import Log
from ..moments.moment import Moment
from .blame_fields import field_changes
from .blame_sums import SUMS
from .blamed import Asking, Blame
from .target import target_of


def blame_at(
    log: Log,
    named: ObjectName,
    number: str,
    at: str | Moment = "end",
    *,
    namespace: str | None = None,
) -> Blame:
    """Return what makes up a number of an object at a moment.

    :param number: ``allocated.cpu``, ``inqueue.cpu`` or ``pods`` of a queue; ``used.cpu``,
        ``idle.cpu``, ``releasing.cpu`` or ``pods`` of a node; ``allocated.cpu``, ``pods`` or
        ``members.Running`` of a PodGroup or a job; of any object a field, as
        ``spec.capability.cpu`` or ``capability.cpu``.
    :raises UsageError: the object has no such number.
    :raises ObjectNotFound: there is no such object at that moment.
    """
    moment = log.moment(at)
    target = target_of(log, named, named.place(namespace) or "default", moment)
    what, _, rest = number.partition(".")
    ask = Asking(log, moment, target.pair, target.key, number, target.podgroup)
    sums = SUMS.get((target.pair, what))
    if sums is None:
        return field_changes(ask, (name for pair, name in SUMS if pair == target.pair))
    if (what == "pods") is bool(rest):
        raise UsageError(
            f"{number!r} is no number of a {plain_name(*target.pair)}",
            now=f"write {_example(what)}",
        )
    return sums(ask, rest or "pods")


def _example(what: str) -> str:
    if what == "pods":
        return what
    return "members.Running" if what == "members" else f"{what}.cpu"


def blame_document(found: Blame) -> dict[str, Any]:
    """Return what makes up a number, for JSON."""
    document: dict[str, Any] = msgspec.to_builtins(found)
    document["not_known"] = [document_of(one) for one in found.not_known]
    return document

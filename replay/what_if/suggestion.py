"""A change that may make a waiting object start, and what suggestions of all kinds share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.quantity_lists import Amount, amounts
from ..answers.amounts import in_order
from ..answers.answer import Why
from ..answers.answering_session import PODGROUP, QUEUE
from ..objects.kind_names import ObjectName
from ..tabular.record_columns import Amounts
from .changed_sessions import Variant
from .cluster_changes import Apply, WhatIfChange

UNCORDON, UNTAINT, OPEN, RESTORE, LIMIT = "uncordon", "untaint", "open", "restore", "limit"
TOPOLOGY, GANG, PODS, VICTIMS, MOVE = "topology", "gang", "pods", "victims", "move"
SWITCH, MORE, GONE, PAIR, RELEASE = "switch", "node", "gone", "pair", "release"
KINDS = (
    *(UNCORDON, UNTAINT, OPEN, RESTORE, LIMIT, TOPOLOGY, GANG, PODS, VICTIMS, MOVE, SWITCH),
    *(MORE, GONE, PAIR, RELEASE),
)
"""Kinds of changes, from what an operator does most easily to what takes a maintenance window."""


class Suggestion(NamedTuple):
    """A change that is tried.

    :param kind: one of :data:`KINDS`. :param size: to compare changes of one kind.
    """

    kind: str
    size: float
    text: str
    variant: Variant


class WaitingObject(NamedTuple):
    """An object that waits.

    :param podgroup: that it belongs to, ``ns/name``. :param cache: before the session.
    :param evicting: the actions of the configuration that evict.
    :param placed: by pod, the node that the session gives it or keeps for it.
    """

    why: Why
    podgroup: str
    cache: SchedulerCache
    evicting: tuple[str, ...] = ()
    placed: Mapping[str, str] = MappingProxyType({})


def single(kind: str, size: float, text: str, *changes: WhatIfChange) -> Suggestion:
    """Return a suggestion of changes that are made together."""
    return Suggestion(kind, size, text, Variant(text, changes))


def queue_name(name: str) -> ObjectName:
    """Return a queue as changes name it."""
    return ObjectName(*QUEUE, name)


def group_name(podgroup: str) -> ObjectName:
    """Return a PodGroup ``ns/name`` as changes name it."""
    place, _, name = podgroup.partition("/")
    return ObjectName(*PODGROUP, name, place)


def queue_spec(queue: str, spec: Mapping[str, object]) -> WhatIfChange:
    """Return the change of some fields of a queue's spec; None takes a field away."""
    return Apply(
        {
            "apiVersion": f"{QUEUE[0]}/v1beta1",
            "kind": "Queue",
            "metadata": {"name": queue},
            "spec": dict(spec),
        }
    )


def limit(queue: str, field: str, amount: Amounts) -> WhatIfChange:
    """Return the change of ``capability``, ``deserved`` or ``guarantee`` of a queue."""
    part = {"resource": dict(amount)} if field == "guarantee" else dict(amount)
    return queue_spec(queue, {field: part})


def words(some: Mapping[str, str]) -> str:
    """Return amounts as ``4 cpu, 8Gi memory``."""
    return ", ".join(f"{some[name]} {name}" for name in in_order(some))


def finite(some: Mapping[str, str]) -> dict[str, Amount]:
    """Return the amounts that are not unlimited."""
    return amounts({name: text for name, text in some.items() if "unlimited" not in text})


def instead_of(new: Mapping[str, str], before: Mapping[str, str]) -> str:
    """Return amounts and those that they replace, as ``2 instead of 4 cpu``."""
    if len(new) == 1 and new.keys() == before.keys():
        ((name, amount),) = new.items()
        return f"{amount} instead of {before[name]} {name}"
    return f"{words(new)} instead of {words(before)}"

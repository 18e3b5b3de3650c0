"""Details of the accounts of queues, for a trace that follows a job or a pod."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ....model.resource import Resource
from ....volcano.session.queues import Comparison
from ...framework.details import TreeFault
from ...framework.session import Session
from ..shared.amounts import plain
from ..shared.queue_details import REAL_CAPABILITY, Demand, keep_check, queue_level
from .attrs import QueueAttr, QueueAttrOfEverything
from .soundness import Complaint

TREE = "tree"
"""What details about the tree of queues are kept under."""


def follow(
    ssn: Session,
    plugin: str,
    attr: QueueAttr,
    asked: tuple[str, str, Resource],
    checked: Collection[QueueAttr],
    full: QueueAttr | None,
) -> None:
    """Keep the accounts from a queue up to the root, as they are compared.

    :param asked: the extension point, the object, and what it wants.
    :param checked: those that the release checks. :param full: the first that has no room.
    """
    point, about, wanted = asked
    everything = isinstance(attr, QueueAttrOfEverything)
    comparison = Comparison.EVERYTHING if everything else Comparison.REQUESTED
    demand = Demand(point, REAL_CAPABILITY, comparison, wanted)
    levels, reached = [], True
    for account in attr.lineage:
        seen = reached and account in checked
        level = queue_level(
            ssn, account.name, account, account.real_capability, demand, checked=seen
        )
        levels.append(level)
        reached = reached and account is not full
    below = () if full is None else {one.name for one in _within(full)}
    keep_check(ssn, plugin, demand, about, levels, below, permits=full is None)


def _within(attr: QueueAttr) -> Iterator[QueueAttr]:
    """Yield a queue and all queues below it."""
    yield attr
    for child in attr.children.values():
        yield from _within(child)


def tree_fault(text: str, complaints: Sequence[Complaint]) -> TreeFault:
    """Return why a tree is invalid: its last complaint, if that is what stopped the check."""
    if not complaints:
        return TreeFault(text)
    last = complaints[-1]
    names = last.theirs.resource_names()
    over = (name for name in names if last.own.get(name) < last.theirs.get(name))
    return TreeFault(
        text,
        last.what,
        last.queue,
        last.child,
        plain(last.own),
        plain(last.theirs),
        tuple(over),
    )

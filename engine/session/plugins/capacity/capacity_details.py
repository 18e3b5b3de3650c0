"""Details of the accounts of queues, for a trace that follows a job or a pod."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from ....model.resource import Resource
from ....volcano.session.queues import QueueComparison
from ...framework.session import Session
from ...framework.vote_details import QueueCheck, TreeFault
from ..shared.gauge_amounts import plain
from ..shared.queue_details import (
    REAL_CAPABILITY,
    CheckedDemand,
    holdings,
    opened,
    opened_account,
    queue_level,
)
from .attrs import QueueAttr, QueueAttrOfEverything
from .hierarchy import HierarchyError
from .soundness import Complaint

PLUGIN = "capacity"
TREE = "tree"
"""What details about the tree of queues are kept under."""


class CapacityCheck(msgspec.Struct, frozen=True):
    """What the plugin checks in a queue and those above it.

    :param point: the extension point. :param about: the object. :param wanted: what it wants.
    :param checked: the accounts that the release checks. :param full: the first without room.
    """

    point: str
    about: str
    wanted: Resource
    checked: Collection[QueueAttr]
    full: QueueAttr | None = None


def follow(ssn: Session, attr: QueueAttr, check: CapacityCheck, group: str = "") -> None:
    """Keep the accounts from a queue up to the root, if the trace follows the object.

    :param group: key of the PodGroup of a pod.
    """
    if not ssn.trace.follows_check(check.about, group, permits=check.full is None):
        return
    everything = isinstance(attr, QueueAttrOfEverything)
    comparison = QueueComparison.EVERYTHING if everything else QueueComparison.REQUESTED
    demand = CheckedDemand(check.point, REAL_CAPABILITY, comparison, check.wanted)
    levels, reached = [], True
    for account in attr.lineage:
        seen, limit = reached and account in check.checked, account.real_capability
        levels.append(queue_level(ssn, account.name, account, limit, demand, checked=seen))
        reached = reached and account is not check.full
    below = () if check.full is None else _within(check.full)
    seen_all = QueueCheck(PLUGIN, check.full is None, tuple(levels), holdings(ssn, below))
    ssn.trace.detail(check.point, check.about, seen_all)


def keep_opened(ssn: Session, attr: QueueAttr) -> None:
    """Keep the account of a queue as the session opens."""
    account = opened_account(PLUGIN, attr.name, attr, attr.real_capability, attr.basis)
    detail = msgspec.structs.replace(
        account,
        steps=tuple(attr.steps or ()),
        parent=attr.ancestors[-1].name if attr.ancestors else "",
        children=tuple(sorted(attr.children)),
    )
    ssn.trace.detail(opened(PLUGIN), attr.name, detail)


def _within(attr: QueueAttr) -> Collection[str]:
    """Return a queue and all queues below it."""
    found = {attr.name}
    waiting = [attr]
    while waiting:
        # Releases that do not check the tree for circles let a queue be below itself.
        below = [child for name, child in waiting.pop().children.items() if name not in found]
        found.update(child.name for child in below)
        waiting += below
    return found


def tree_fault(error: HierarchyError, complaints: Sequence[Complaint]) -> TreeFault:
    """Return why a tree is invalid: its last complaint, if that is what stopped the check."""
    text = str(error)
    if error.error is not None:
        return TreeFault(text, queue=error.queue, error=error.error, other=error.other)
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

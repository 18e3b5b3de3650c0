"""What the root of a tree of queues may use, what children inherit, and complaints about the rest.

Source: pkg/scheduler/plugins/capacity/capacity.go buildHierarchicalQueueAttrs,
checkHierarchicalQueue.
"""

from __future__ import annotations

from sys import float_info

from ....belief.resource import Resource
from ....volcano.behaviours import Behaviours, RootQueueBounds
from ...session import Session
from .attrs import QueueAttr

ENDLESS_SCALAR = float(2**63 - 1)


def bound_root(ssn: Session, root: QueueAttr) -> None:
    """Set what the root queue may use, and what it deserves."""
    bounds = ssn.behaviours.root_queue_bounds
    assert root.capability is not None
    if bounds is RootQueueBounds.ENDLESS_UNLESS_SET:
        if root.capability.is_empty():
            root.capability = _endless(ssn.total)
        root.real_capability = root.capability
        return
    unset = bounds is RootQueueBounds.CLUSTER
    if unset or root.capability.is_empty():
        root.capability = ssn.total
    if unset or root.deserved.is_empty():
        root.deserved = ssn.total
    root.real_capability = ssn.total


def inherit_capability(parent: QueueAttr, child: QueueAttr, *, scalars: bool) -> None:
    """Let a child that names no cpu or memory have its parent's capability of it.

    :param scalars: likewise with all other resources.
    """
    own, theirs = parent.capability, child.capability
    assert own is not None
    assert theirs is not None
    if theirs.cpu <= 0:
        theirs.cpu = own.cpu
    if theirs.memory <= 0:
        theirs.memory = own.memory
    if scalars and own.scalars is not None:
        theirs.scalars = {**own.scalars, **(theirs.scalars or {})}


def too_much(parent: QueueAttr, child: QueueAttr, behaviours: Behaviours) -> str:
    """Return the complaint about a child whose capability is greater than its parent's."""
    if not behaviours.tree_errors_tell_amounts:
        return f"queue <{parent.name}> capability is less than its child queue <{child.name}>"
    return (
        f"queue <{parent.name}> capability <{parent.capability}> is less than"
        f" its child queue <{child.name}> capability <{child.capability}>"
    )


def too_little(
    attr: QueueAttr, what: str, own: Resource, theirs: Resource, behaviours: Behaviours
) -> str:
    """Return the complaint about a queue whose children have more than it."""
    if not behaviours.tree_errors_tell_amounts:
        return (
            f"{what} resources of queue <{attr.name}> are less than"
            f" the sum of its child queues' {what} resources"
        )
    return (
        f"queue <{attr.name}> {what} resources <{own}> are less than"
        f" the sum of its child queues' {what} resources <{theirs}>"
    )


def _endless(total: Resource) -> Resource:
    """Return more than anybody can use of all that there is."""
    scalars = None if total.scalars is None else dict.fromkeys(total.scalars, ENDLESS_SCALAR)
    return Resource(float_info.max, float_info.max, scalars)

"""What the root of a tree may use, what children inherit, and errors in the tree.

Source: pkg/scheduler/plugins/capacity/capacity.go buildHierarchicalQueueAttrs,
checkHierarchicalQueue.
"""

from __future__ import annotations

from sys import float_info

import msgspec

from ....model.resource import INFINITY, Resource
from ....volcano.session.behaviours import Behaviours
from ....volcano.session.queue_tree import RootQueueBounds
from ...framework.session import Session
from .attrs import QueueAttr

ENDLESS_SCALAR = float(2**63 - 1)
ENDLESS = frozenset({RootQueueBounds.UNLIMITED_UNLESS_SET, RootQueueBounds.UNLIMITED_WHERE_UNSET})
"""Releases in which the root deserves what its children deserve."""


def bound_root(ssn: Session, root: QueueAttr) -> None:
    """Set what the root queue may use, and what it deserves."""
    bounds = ssn.behaviours.root_queue_bounds
    assert root.capability is not None
    # Users do not configure the root, and may submit more than the cluster has: it must limit
    # nothing.
    if bounds in ENDLESS:
        if root.capability.is_empty():
            root.capability = _endless(ssn.total)
        elif bounds is RootQueueBounds.UNLIMITED_WHERE_UNSET:
            _leave_endless(root.capability, ssn.total)
        root.real_capability = root.capability
        return
    unset = bounds is RootQueueBounds.CLUSTER
    if unset or root.capability.is_empty():
        root.capability = ssn.total
    if unset or root.deserved.is_empty():
        root.deserved = ssn.total
    root.real_capability = ssn.total


def _leave_endless(capability: Resource, total: Resource) -> None:
    """Make a capability unlimited in resources that it does not name."""
    endless = _endless(total)
    capability.cpu = capability.cpu or endless.cpu
    capability.memory = capability.memory or endless.memory
    if endless.scalars is not None:
        capability.scalars = {**endless.scalars, **(capability.scalars or {})}


def inherit_capability(parent: QueueAttr, child: QueueAttr, *, scalars: bool) -> None:
    """Let a child without a capability for cpu or memory inherit its parent's.

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


class Complaint(msgspec.Struct, frozen=True):
    """An error: a queue has less than its children.

    :param what: ``capability``, ``deserved`` or ``guarantee``.
    :param child: one child that has more; empty if only all children together have more.
    :param own: what the queue has, and :param theirs: what its children have.
    """

    what: str
    queue: str
    child: str
    own: Resource
    theirs: Resource

    def text(self, behaviours: Behaviours) -> str:
        """Return what the scheduler logs."""
        if not behaviours.invalid_tree_stops_scheduling:
            return self._remark()
        amounts = behaviours.tree_errors_show_amounts
        own, theirs = (f" <{self.own}>", f" <{self.theirs}>") if amounts else ("", "")
        if self.child:
            named = f" {self.what}" if amounts else ""
            return (
                f"queue <{self.queue}> {self.what}{own} is less than"
                f" its child queue <{self.child}>{named}{theirs}"
            )
        of = (
            f"queue <{self.queue}> {self.what} resources"
            if amounts
            else f"{self.what} resources of queue <{self.queue}>"
        )
        return f"{of}{own} are less than the sum of its child queues' {self.what} resources{theirs}"

    def _remark(self) -> str:
        """Return the log line of releases that continue; v1.14.0 words it slightly differently."""
        own, theirs = _printed(self.own), _printed(self.theirs)
        if self.child:
            names = " ".join(self.theirs.less_equal_with_resources_name(self.own, INFINITY)[1])
            return (
                f"Child queue {self.child} capability ({theirs}) exceeds parent queue {self.queue}"
                f" capability ({own}) on resources [{names}]."
                " Child's effective capability will be limited by parent."
            )
        if self.what == "deserved":
            return (
                f"Sum of child queue deserved ({theirs}) exceeds parent queue {self.queue}"
                f" deserved ({own}). This may affect resource distribution during scheduling."
            )
        return (
            f"Sum of child queue guarantees ({theirs}) exceeds parent queue {self.queue}"
            f" guarantee ({own}). Not all child guarantees can be satisfied simultaneously."
        )


def _printed(amounts: Resource) -> str:
    """Return amounts as these releases print them: unlimited ones by name.

    Source: api/resource_info.go String.
    """
    ends = {f"{ENDLESS_SCALAR:.2f}": "maxInt", f"{float_info.max:.2f}": "maxFloat"}
    return ", ".join(f"{name} {ends.get(amount, amount)}" for name, amount in amounts.printed())


def _endless(total: Resource) -> Resource:
    """Return an amount of all resources that is more than any queue can use."""
    scalars = None if total.scalars is None else dict.fromkeys(total.scalars, ENDLESS_SCALAR)
    return Resource(float_info.max, float_info.max, scalars)

"""The accounts of queues that form a tree, and the check that the tree is sound.

A tree that is not sound is an error: nothing is enqueued or allocated in that session.

Source: pkg/scheduler/plugins/capacity/capacity.go buildHierarchicalQueueAttrs, updateAncestors,
checkHierarchicalQueue, getQueueLevel.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....belief.panic import Panic
from ....belief.resource import INFINITY, ZERO, Resource, maximum
from ...session import Session
from ..queue_demand import queue_demands
from .attrs import QueueAttr, real_capability

ROOT = "root"


class HierarchyError(Exception):
    """The tree of queues is not sound; the message is what the scheduler logs."""


class Hierarchy:
    """The tree of a session's queues.

    ``attrs`` has the account of every queue; those opened before an error stay in it.
    ``total_guarantee`` is what the children of the root are guaranteed together.
    """

    def __init__(self, ssn: Session) -> None:
        self.attrs: dict[str, QueueAttr] = {}
        self.total_guarantee = Resource()
        self._ssn = ssn
        self._rivals: dict[tuple[str, str], tuple[QueueAttr, QueueAttr]] = {}

    def build(self) -> None:
        """Open the accounts, sum up the jobs, and set the limits from the root down.

        :raises HierarchyError: the tree is not sound.
        :raises Panic: there is no queue at all, not even the root.
        """
        for name in self._ssn.queues:
            if name not in self.attrs:
                try:
                    self._place(name)
                except HierarchyError as error:
                    text = f"Failed to update Queue <{name}> attributes, error: {error}"
                    raise HierarchyError(text) from None
        self._add_jobs()
        try:
            self._check_root()
        except HierarchyError as error:
            text = f"Failed to check queue's hierarchical structure, error: {error}"
            raise HierarchyError(text) from None
        for attr in self.attrs.values():
            attr.update_share()

    def _place(self, name: str) -> None:
        """Open the accounts of a queue and of those above it that have none yet."""
        queue = self._ssn.queues[name]
        attr = self.attrs[name] = QueueAttr(queue)
        attr.capability = queue.capability.clone()
        if name == ROOT:
            return
        parent = queue.parent or ROOT
        if parent not in self._ssn.queues:
            raise HierarchyError(f"the queue {name} has invalid parent queue {parent}")
        if parent not in self.attrs:
            self._place(parent)
        attr.place_below(self.attrs[parent])

    def _add_jobs(self) -> None:
        """Add what each queue's jobs hold and ask for to the queue and to all above it.

        :raises HierarchyError: a job is in a queue that has queues below it; jobs that come before
            it by name are added then, as the scheduler adds those that it meets before.
        """
        jobs = self._ssn.jobs
        misplaced = next(
            (job for job, queue in enumerate(jobs.queue) if self.attrs[queue].children), None
        )
        for name, demand in queue_demands(self._ssn, until=misplaced).items():
            for attr in self.attrs[name].lineage:
                attr.add_demand(demand)
        if misplaced is not None:
            queue, key = jobs.queue[misplaced], jobs.keys[misplaced]
            raise HierarchyError(f"The Queue <{queue}> of Job <{key}> is not leaf queue")

    def _check_root(self) -> None:
        """Give the root all that there is, and check the tree below it."""
        root = self.attrs.get(ROOT)
        if root is None:
            raise Panic(
                "runtime error: invalid memory address or nil pointer dereference",
                (
                    "plugins/capacity.(*capacityPlugin).buildHierarchicalQueueAttrs",
                    "plugins/capacity.(*capacityPlugin).OnSessionOpen",
                    "framework.OpenSession",
                ),
            )
        root.capability = root.real_capability = root.deserved = self._ssn.total
        self._check(root)

    def _check(self, attr: QueueAttr) -> None:
        """Set the limits of a queue's children, and compare what they have with what it has."""
        children = [attr.children[name] for name in sorted(attr.children)]
        deserved, guarantees = Resource(), Resource()
        for child in children:
            deserved.add(child.deserved)
            guarantees.add(child.guarantee)
            inherit_capability(attr, child)
        if attr.name == ROOT:
            attr.guarantee = self.total_guarantee = guarantees
        for child in children:
            child.real_capability = self._real_capability(attr, guarantees, child)
            deserved_before = child.deserved.clone()
            child.deserved.min_dimension_resource(child.real_capability, INFINITY)
            if self._ssn.behaviours.deserved_within_request:
                child.deserved.min_dimension_resource(child.request, ZERO)
            child.deserved = maximum(
                child.deserved, child.guarantee, zeros=self._ssn.behaviours.maximum_keeps_zeros
            )
            deserved.sub(deserved_before).add(child.deserved)
        if attr.deserved.less_partly(deserved, ZERO):
            raise _less_than_children(attr, "deserved")
        if attr.guarantee.less_partly(guarantees, ZERO):
            raise _less_than_children(attr, "guarantee")
        for child in children:
            self._check(child)

    def _real_capability(self, attr: QueueAttr, guarantees: Resource, child: QueueAttr) -> Resource:
        crashes = self._ssn.behaviours.excess_child_guarantees_crash
        try:
            return real_capability(
                attr.real_capability, guarantees, child.guarantee, child.capability, crashes=crashes
            )
        except Panic as panic:
            raise panic.through(
                *["plugins/capacity.(*capacityPlugin).checkHierarchicalQueue"]
                * (len(attr.ancestors) + 1),
                "plugins/capacity.(*capacityPlugin).buildHierarchicalQueueAttrs",
                "plugins/capacity.(*capacityPlugin).OnSessionOpen",
                "framework.OpenSession",
            ) from None

    def queue_order(self, left: str, right: str) -> float:
        """Put higher priority first, leaves before others, then the smaller share.

        Two leaves compare the shares of the ancestors where their ways part.
        """
        one, other = self.attrs[left], self.attrs[right]
        if one.priority != other.priority:
            return other.priority - one.priority
        if bool(one.children) != bool(other.children):
            return -1 if not one.children else 1
        if not one.children:
            one, other = self._rivals.get((left, right)) or self._part(one, other)
        return (one.share > other.share) - (one.share < other.share)

    def _part(self, left: QueueAttr, right: QueueAttr) -> tuple[QueueAttr, QueueAttr]:
        """Return the two queues whose shares decide between two leaves."""
        below = queue_level(left.ancestors, right.ancestors) + 1
        one, other = (
            leaf.ancestors[below] if below < len(leaf.ancestors) else leaf for leaf in (left, right)
        )
        self._rivals[left.name, right.name] = one, other
        return one, other

    def victim_queue_order(self, left: str, right: str, preemptor: str) -> float:
        """Put victims of the queues first that are closest to the preemptor's."""
        of = self.attrs[preemptor].ancestors
        return queue_level(self.attrs[right].ancestors, of) - queue_level(
            self.attrs[left].ancestors, of
        )


def queue_level(left: Sequence[QueueAttr], right: Sequence[QueueAttr]) -> int:
    """Return the depth of the last ancestor that two queues share from the root on; 0 if none.

    Source: capacity.go getQueueLevel.
    """
    level = 0
    for depth, (one, other) in enumerate(zip(left, right, strict=False)):
        if one is not other:
            break
        level = depth
    return level


def inherit_capability(parent: QueueAttr, child: QueueAttr) -> None:
    """Let a child that names no cpu or memory have its parent's capability of it.

    :raises HierarchyError: the parent has less of something, or lacks a scalar that the child
        names.
    """
    own, theirs = parent.capability, child.capability
    assert own is not None
    assert theirs is not None
    if theirs.cpu <= 0:
        theirs.cpu = own.cpu
    if theirs.memory <= 0:
        theirs.memory = own.memory
    if own.less_partly(theirs, ZERO):
        raise HierarchyError(
            f"queue <{parent.name}> capability is less than its child queue <{child.name}>"
        )


def _less_than_children(attr: QueueAttr, what: str) -> HierarchyError:
    return HierarchyError(
        f"{what} resources of queue <{attr.name}> are less than"
        f" the sum of its child queues' {what} resources"
    )

"""The accounts of queues that form a tree, and the check that the tree is valid.

An invalid tree is an error: nothing is enqueued or allocated in that session.

Source: pkg/scheduler/plugins/capacity/capacity.go buildHierarchicalQueueAttrs, updateAncestors,
checkHierarchicalQueue, getQueueLevel.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....model.panic import NIL_POINTER, Panic
from ....model.resource import INFINITY, ZERO, Resource, maximum
from ....volcano.session.queue_tree import RootQueueBounds, TreeDeserved
from ...framework.session import Session
from ...framework.vote_details import ShareStep, TreeError
from ..shared.queue_demand import queue_demands
from .attrs import QueueAttr, compare_shares, real_capability
from .granting import grant
from .soundness import ENDLESS, Complaint, bound_root, inherit_capability

ROOT = "root"

NO_QUEUE = (
    "plugins/capacity.(*capacityPlugin).buildHierarchicalQueueAttrs",
    "plugins/capacity.(*capacityPlugin).OnSessionOpen",
    "framework.OpenSession",
)
"""Where the scheduler panics if a needed queue, or a limit of a queue, does not exist."""


class HierarchyError(Exception):
    """The tree of queues is invalid; the scheduler logs the message.

    :ivar error: what it is about, if about no amount. :ivar queue: of which queue.
    :ivar other: its parent, or its PodGroup.
    """

    def __init__(
        self, text: str, error: TreeError | None = None, queue: str = "", other: str = ""
    ) -> None:
        super().__init__(text)
        self.error, self.queue, self.other = error, queue, other


class Hierarchy:
    """The tree of a session's queues.

    :param goes_on: whether fatal errors do not end the check, so that all of them are found.

    ``attrs`` has the account of every queue; those opened before an error stay in it.
    ``complaints`` name the queues that have less than their children, up to the fatal one.
    ``total_guarantee`` is what the children of the root are guaranteed together, or the root
    itself; likewise ``total_deserved``.
    """

    def __init__(self, ssn: Session, *, goes_on: bool = False) -> None:
        self._goes_on = goes_on
        self.attrs: dict[str, QueueAttr] = {}
        self.complaints: list[Complaint] = []
        self.total_guarantee = Resource()
        self.total_deserved = Resource()
        self._ssn = ssn
        self._rivals: dict[tuple[str, str], tuple[QueueAttr, QueueAttr]] = {}
        self._adds_up = False
        """The root deserves what its children do."""

    def build(self) -> None:
        """Open the accounts, sum up the jobs, and set the limits from the root down.

        :raises HierarchyError: the tree is invalid.
        :raises Panic: there is no queue at all, not even the root.
        """
        for name in self._ssn.queues:
            if name not in self.attrs:
                try:
                    self._place(name)
                except HierarchyError as error:
                    text = f"Failed to update Queue <{name}> attributes, error: {error}"
                    raise HierarchyError(text, error.error, error.queue, error.other) from None
        self._add_jobs()
        try:
            self._check_root()
        except HierarchyError as error:
            text = f"Failed to check queue's hierarchical structure, error: {error}"
            raise HierarchyError(text, error.error, error.queue, error.other) from None
        if self._adds_up:
            self.attrs[ROOT].note(ShareStep.CHILDREN)
        for attr in self.attrs.values():
            attr.update_share()

    def _place(self, name: str) -> None:
        """Open the accounts of a queue and of its ancestors that have none yet."""
        queue = self._ssn.queues[name]
        # Entered before its parent is opened: a cycle of parents so ends at a queue that is known.
        attr = self.attrs[name] = QueueAttr(
            queue,
            deserving_first=self._ssn.behaviours.zero_deserved_share_is_one,
            subtract=self._ssn.subtract,
        )
        attr.capability = queue.capability.clone()
        if self._ssn.trace.follows(name):
            attr.follow()
        if self._ssn.behaviours.unchecked_queues_have_zero_limit:
            attr.real_capability = Resource()
        if name == ROOT:
            return
        parent = queue.parent or ROOT
        if parent not in self._ssn.queues:
            text = f"the queue {name} has invalid parent queue {parent}"
            raise HierarchyError(text, TreeError.NO_PARENT, name, parent)
        if parent not in self.attrs:
            self._place(parent)
        attr.place_below(self.attrs[parent])

    def _add_jobs(self) -> None:
        """Add what each queue's jobs hold and request to the queue and its ancestors.

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
            text = f"The Queue <{queue}> of Job <{key}> is not leaf queue"
            raise HierarchyError(text, TreeError.NOT_LEAF, queue, key)

    def _check_root(self) -> None:
        """Set the root's resources, and check the tree below it."""
        root = self.attrs.get(ROOT)
        if root is None and not self._ssn.behaviours.missing_root_queue_crashes:
            raise HierarchyError("the root queue is missing", TreeError.NO_ROOT)
        if root is None:
            raise Panic(NIL_POINTER, NO_QUEUE)
        bound_root(self._ssn, root)
        if root.deserved is self._ssn.total:
            root.note(ShareStep.NODES)
        self._check(root)

    def _check(self, attr: QueueAttr) -> None:
        """Set the limits of a queue's children, and compare them with those of the queue."""
        how = self._ssn.behaviours
        children = [attr.children[name] for name in sorted(attr.children)]
        deserved, guarantees = Resource(), Resource()
        if not how.children_may_exceed_parent:
            self._grant(attr, children)
        for child in children:
            if how.tree_deserved is TreeDeserved.AT_LEAST_GUARANTEED:
                child.deserved = maximum(child.deserved, child.guarantee, zeros=True)
                child.note(ShareStep.GUARANTEE)
            deserved.add(child.deserved)
            guarantees.add(child.guarantee)
            # What a child inherits is compared next, and passed on to its own children by the
            # recursion.
            inherit_capability(attr, child, scalars=how.children_inherit_scalars)
            self._compare_capability(attr, child)
        # If the root deserves this sum, it has this very object: it follows the limits set below.
        if attr.name == ROOT:
            self._sum_up_root(attr, deserved, guarantees)
        for child in children:
            child.real_capability = self._real_capability(attr, guarantees, child)
            child.note_limit(attr.real_capability, guarantees)
            if how.tree_deserved is TreeDeserved.WITHIN_LIMITS:
                before = child.deserved.clone()
                self._limit_deserved(child)
                # The sum was taken before the limits; each child's part of it is replaced by what
                # is left.
                deserved.sub(before).add(child.deserved)
        if attr.deserved.less_partly(deserved, ZERO):
            self._complain(Complaint("deserved", attr.name, "", attr.deserved, deserved))
        if attr.guarantee.less_partly(guarantees, ZERO):
            self._complain(Complaint("guarantee", attr.name, "", attr.guarantee, guarantees))
        for child in children:
            self._check(child)

    def _grant(self, attr: QueueAttr, children: Sequence[QueueAttr]) -> None:
        """Lower the claims of children to what the queue has for them."""
        queues = self._ssn.queues
        in_turn = sorted(children, key=lambda child: (queues[child.name].created, child.name))
        self._ssn.errors += grant(attr, in_turn, top=attr.name == ROOT)
        for child in children:
            child.note(ShareStep.GRANTED)

    def _sum_up_root(self, root: QueueAttr, deserved: Resource, guarantees: Resource) -> None:
        """Give the root what its children have together, or leave it what it has."""
        bounds = self._ssn.behaviours.root_queue_bounds
        keeps_own = bounds is RootQueueBounds.CLUSTER_UNLESS_SET
        if not keeps_own or root.guarantee.is_empty():
            root.guarantee = guarantees
        if (keeps_own and root.deserved.is_empty()) or bounds in ENDLESS:
            root.deserved = deserved
            self._adds_up = True
        self.total_guarantee, self.total_deserved = root.guarantee, root.deserved

    def _limit_deserved(self, child: QueueAttr) -> None:
        """Limit what a queue deserves: max(min(deserved, real capability), guarantee)."""
        assert child.real_capability is not None
        child.deserved.min_dimension_resource(child.real_capability, INFINITY)
        child.note(ShareStep.LIMIT)
        if self._ssn.behaviours.deserved_capped_by_request:
            child.deserved.min_dimension_resource(child.request, ZERO)
            child.note(ShareStep.REQUEST)
        child.deserved = maximum(
            child.deserved, child.guarantee, zeros=self._ssn.behaviours.deserved_keeps_zero_scalars
        )
        child.note(ShareStep.GUARANTEE)

    def _compare_capability(self, parent: QueueAttr, child: QueueAttr) -> None:
        """Report if a parent has less of a resource than its children.

        Where that stops everything, a scalar that the parent lacks is too much as well.
        """
        own, theirs = parent.capability, child.capability
        assert own is not None
        assert theirs is not None
        stops = self._ssn.behaviours.invalid_tree_stops_scheduling
        if own.less_partly(theirs, ZERO) and (stops or not theirs.less_equal(own, INFINITY)):
            self._complain(Complaint("capability", parent.name, child.name, own, theirs))

    def _complain(self, complaint: Complaint) -> None:
        """Refuse the tree, or only say so."""
        self.complaints.append(complaint)
        text = complaint.text(self._ssn.behaviours)
        if self._ssn.behaviours.invalid_tree_stops_scheduling and not self._goes_on:
            raise HierarchyError(text)
        self._ssn.errors.append(text)

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
            ) from None

    def queue_order(self, left: str, right: str) -> float:
        """Put higher priority first, leaves before others, then the smaller share.

        Two leaves compare the shares of the ancestors just below their common ancestor.
        """
        left_attr, right_attr = self.attrs[left], self.attrs[right]
        if left_attr.priority != right_attr.priority:
            return right_attr.priority - left_attr.priority
        if bool(left_attr.children) != bool(right_attr.children):
            return -1 if not left_attr.children else 1
        if not left_attr.children:
            # Shares of ancestors are those of the opening: `AllocateFunc` updates only the leaf's
            # share.
            left_attr, right_attr = self._rivals.get((left, right)) or self._part(
                left_attr, right_attr
            )
        return compare_shares(left_attr, right_attr)

    def _part(self, left: QueueAttr, right: QueueAttr) -> tuple[QueueAttr, QueueAttr]:
        """Return the two queues whose shares decide between two leaves."""
        # Below the last common ancestor, or the leaf itself where its ancestors end there.
        below = queue_level(left.ancestors, right.ancestors) + 1
        left_attr, right_attr = (
            leaf.ancestors[below] if below < len(leaf.ancestors) else leaf for leaf in (left, right)
        )
        self._rivals[left.name, right.name] = left_attr, right_attr
        return left_attr, right_attr

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
    for depth, (left_ancestor, right_ancestor) in enumerate(zip(left, right, strict=False)):
        if left_ancestor is not right_ancestor:
            break
        level = depth
    return level

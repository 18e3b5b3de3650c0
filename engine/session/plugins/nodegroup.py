"""Plugin ``nodegroup``: queues have affinities to groups of nodes.

A node's group is its label ``volcano.sh/nodegroup-name``; a queue's affinities are in its spec. A
pod that names a queue without any fits no node. Newer releases use the queue of the pod's
job (:class:`NodeGroupByJob`).

Source: pkg/scheduler/plugins/nodegroup/nodegroup.go.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np

from ...kubernetes.objects import Pod, QueueAffinity
from ...model.session_tables import Floats, Ints, Rows
from ...volcano.conf import Arguments
from ..framework.session import Session
from ..reasons.objections import NodeCode, Objection
from ..reasons.statuses import PASS, StatusCode

NODE_GROUP = "volcano.sh/nodegroup-name"
QUEUE_NAME = "volcano.sh/queue-name"
QUEUE_NAME_ANNOTATION = "scheduling.volcano.sh/queue-name"
NOT_SATISFIED = Objection("node not satisfy", NodeCode.NODE_GROUP)

AFFINITY_NOT_FOUND = Objection("node group affinity not specified", NodeCode.NODE_GROUP_AFFINITY)
LABEL_NOT_FOUND = Objection("node group label not found", NodeCode.NODE_GROUP_LABEL)
UNSATISFIED = Objection("node does not satisfy the node group affinity", NodeCode.NODE_GROUP)
ROOT = "root"

BASE_SCORE = 100.0


class QueueGroupAffinity(msgspec.Struct, frozen=True):
    """The groups that a queue must or should have, and must or should not have."""

    required: frozenset[str] = frozenset()
    preferred: frozenset[str] = frozenset()
    anti_required: frozenset[str] = frozenset()
    anti_preferred: frozenset[str] = frozenset()
    order: tuple[str, ...] = ()
    """The preferred groups as they are written, if their order matters."""

    @classmethod
    def of(cls, affinity: QueueAffinity | None) -> QueueGroupAffinity:
        """Return the affinity of a queue's spec."""
        groups = affinity and affinity.node_group_affinity
        anti = affinity and affinity.node_group_anti_affinity
        return cls(
            frozenset(groups.required if groups else ()),
            frozenset(groups.preferred if groups else ()),
            frozenset(anti.required if anti else ()),
            frozenset(anti.preferred if anti else ()),
        )

    @property
    def rules(self) -> bool:
        """Whether it names any group."""
        return bool(self.required or self.preferred or self.anti_required or self.anti_preferred)

    def takes(self, group: str) -> bool:
        """Return whether pods of the queue may run in a group: the last rule that names it decides.

        Source: nodegroup.go predicate.
        """
        if group in self.anti_preferred:
            return True
        if group in self.anti_required:
            return False
        return group in self.required or group in self.preferred

    def score(self, group: str) -> float:
        """Return 100 for a required group and 50 for a preferred one, but −1 for one to be avoided.

        Where the order of n preferred groups matters, the one at index i gets 50 × (n − i) / n.

        Source: nodegroup.go score.
        """
        if group in self.anti_preferred:
            return -1.0
        part = float(group in self.preferred)
        if self.order and part:
            last = {name: index for index, name in enumerate(self.order)}
            part *= (len(last) - last[group]) / len(last)
        return BASE_SCORE * (group in self.required) + 0.5 * BASE_SCORE * part


def pod_queue(pod: Pod) -> str:
    """Return the queue in a pod's label or annotations, even if its job is in another queue.

    Source: nodegroup.go GetPodQueue.
    """
    labels, annotations = pod.labels, pod.annotations
    if QUEUE_NAME in labels:
        return labels[QUEUE_NAME]
    if QUEUE_NAME in annotations:
        return annotations[QUEUE_NAME]
    return annotations.get(QUEUE_NAME_ANNOTATION, "")


class NodeGroupPlugin:
    """Filters and scores nodes by their group.

    Arguments, which newer releases read: ``strict`` (true), ``enablePreferredOrder`` (false).
    """

    name: ClassVar[str] = "nodegroup"

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments

    def on_session_open(self, ssn: Session) -> None:
        """Sort the nodes into groups, and register filter and score."""
        if ssn.behaviours.nodegroup_uses_job_queue:
            NodeGroupByJob(ssn, self.name, self._arguments)
        else:
            self._open(ssn)

    def _open(self, ssn: Session) -> None:
        self._ssn = ssn
        # A node without the label is in the group of the empty name, as a Go map answers.
        names = [info.labels.get(NODE_GROUP, "") for info in ssn.nodes.info]
        self._groups = sorted(set(names))
        index = {group: number for number, group in enumerate(self._groups)}
        self._group_of = np.array([index[group] for group in names], dtype=np.intp)
        self._refused = ssn.reasons.intern(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, NOT_SATISFIED)
        self._verdicts: dict[str, Ints] = {}
        self._scores: dict[str, Floats] = {}
        ssn.registry.add_node_order(self.name, self._node_order, per="class")
        final = ssn.behaviours.nodegroup_skips_later_filters
        ssn.registry.add_predicate(self.name, self._predicate, per="class", final=final)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def _predicate(self, task: int, rows: Rows) -> Ints | None:
        queue = pod_queue(self._ssn.tasks.info[task].pod)
        if not queue:
            return None
        verdicts = self._verdicts.get(queue)
        if verdicts is None:
            takes = self._affinity(queue).takes
            by_group = [PASS if takes(group) else self._refused for group in self._groups]
            verdicts = np.array(by_group, dtype=np.int32)[self._group_of]
            self._verdicts[queue] = verdicts
        return verdicts[rows]

    def _node_order(self, task: int, rows: Rows) -> Floats:
        queue = pod_queue(self._ssn.tasks.info[task].pod)
        if not queue:
            return np.zeros(len(rows))
        scores = self._scores.get(queue)
        if scores is None:
            score = self._affinity(queue).score
            scores = np.array([score(group) for group in self._groups])[self._group_of]
            self._scores[queue] = scores
        return scores[rows]

    def _affinity(self, name: str) -> QueueGroupAffinity:
        queue = self._ssn.queues.get(name)
        return (
            QueueGroupAffinity()
            if queue is None
            else QueueGroupAffinity.of(queue.queue.spec.affinity)
        )


class NodeGroupByJob:
    """Filters and scores nodes by their group for the queue of a task's job.

    A queue without rules uses only nodes without a group, and with ``strict`` not even these. In a
    tree of queues, a queue without rules inherits those of its nearest ancestor with rules.
    """

    def __init__(self, ssn: Session, name: str, arguments: Arguments) -> None:
        self._ssn = ssn
        self._strict = arguments.get_bool("strict", True)
        self._ordered = ssn.behaviours.nodegroup_preferred_order and arguments.get_bool(
            "enablePreferredOrder", False
        )
        self._inherits = ssn.registry.hierarchy_enabled(name)
        names = [info.labels.get(NODE_GROUP) for info in ssn.nodes.info]
        labels = sorted({name for name in names if name is not None})
        self._groups: list[str | None] = [None, *labels]
        index = {group: number for number, group in enumerate(self._groups)}
        self._group_of = np.array([index[group] for group in names], dtype=np.intp)
        code = StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE
        self._unlabelled = ssn.reasons.intern(code, LABEL_NOT_FOUND)
        self._without_rules = ssn.reasons.intern(code, AFFINITY_NOT_FOUND)
        self._refused = ssn.reasons.intern(code, UNSATISFIED)
        self._verdicts: dict[str, Ints] = {}
        self._scores: dict[str, Floats] = {}
        ssn.registry.add_node_order(name, self._node_order, per="task")
        ssn.registry.add_predicate(name, self._predicate, per="task")

    def _predicate(self, task: int, rows: Rows) -> Ints | None:
        queue = self._queue(task)
        verdicts = self._verdicts.get(queue)
        if verdicts is None:
            affinity = self._affinity(queue)
            by_group = [self._verdict(affinity, group) for group in self._groups]
            verdicts = np.array(by_group, dtype=np.int32)[self._group_of]
            self._verdicts[queue] = verdicts
        return verdicts[rows]

    def _verdict(self, affinity: QueueGroupAffinity, group: str | None) -> int:
        if group is None:
            return PASS if not self._strict and not affinity.rules else self._unlabelled
        if not affinity.rules:
            return self._without_rules
        return PASS if affinity.takes(group) else self._refused

    def _node_order(self, task: int, rows: Rows) -> Floats:
        queue = self._queue(task)
        scores = self._scores.get(queue)
        if scores is None:
            affinity = self._affinity(queue)
            by_group = [0.0 if group is None else affinity.score(group) for group in self._groups]
            scores = self._scores[queue] = np.array(by_group)[self._group_of]
        return scores[rows]

    def _queue(self, task: int) -> str:
        return self._ssn.jobs.queue[self._ssn.tasks.job.item(task)]

    def _affinity(self, name: str) -> QueueGroupAffinity:
        """Return a queue's rules, or those that it inherits."""
        queues = self._ssn.queues
        seen: set[str] = set()
        while name in queues and name not in seen:
            seen.add(name)
            affinity = queues[name].queue.spec.affinity
            # An affinity that names no group counts, too: it is not replaced by that of an
            # ancestor.
            if affinity is not None:
                groups = affinity.node_group_affinity if self._ordered else None
                order = tuple(groups.preferred) if groups else ()
                return msgspec.structs.replace(QueueGroupAffinity.of(affinity), order=order)
            if not self._inherits or name == ROOT:
                break
            name = queues[name].parent or ROOT
        return QueueGroupAffinity()

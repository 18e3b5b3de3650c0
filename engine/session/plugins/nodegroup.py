"""Plugin ``nodegroup``: queues have affinities to groups of nodes.

A node's group is its label ``volcano.sh/nodegroup-name``; a queue's affinities are in its spec. A
queue without any takes no node at all.

Source: pkg/scheduler/plugins/nodegroup/nodegroup.go.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from ...belief.objects import Pod, QueueAffinity
from ...volcano.conf import Arguments
from ..reasons import PASS, StatusCode
from ..session import Session
from ..tables import Floats, Ints, Rows

NODE_GROUP = "volcano.sh/nodegroup-name"
QUEUE_NAME = "volcano.sh/queue-name"
QUEUE_NAME_ANNOTATION = "scheduling.volcano.sh/queue-name"
NOT_SATISFIED = "node not satisfy"

BASE_SCORE = 100.0


class Affinity(NamedTuple):
    """The groups that a queue must or should have, and must or should not have."""

    required: frozenset[str] = frozenset()
    preferred: frozenset[str] = frozenset()
    anti_required: frozenset[str] = frozenset()
    anti_preferred: frozenset[str] = frozenset()

    @classmethod
    def of(cls, affinity: QueueAffinity | None) -> Affinity:
        """Return the affinity of a queue's spec."""
        groups = affinity and affinity.node_group_affinity
        anti = affinity and affinity.node_group_anti_affinity
        return cls(
            frozenset(groups.required if groups else ()),
            frozenset(groups.preferred if groups else ()),
            frozenset(anti.required if anti else ()),
            frozenset(anti.preferred if anti else ()),
        )

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

        Source: nodegroup.go score.
        """
        if group in self.anti_preferred:
            return -1.0
        return BASE_SCORE * (group in self.required) + 0.5 * BASE_SCORE * (group in self.preferred)


def pod_queue(pod: Pod) -> str:
    """Return the queue that a pod's label or annotations name, whatever queue its job is in.

    Source: nodegroup.go GetPodQueue.
    """
    labels, annotations = pod.labels, pod.annotations
    if QUEUE_NAME in labels:
        return labels[QUEUE_NAME]
    if QUEUE_NAME in annotations:
        return annotations[QUEUE_NAME]
    return annotations.get(QUEUE_NAME_ANNOTATION, "")


class NodeGroup:
    """Filters and scores nodes by their group; takes no arguments."""

    name: ClassVar[str] = "nodegroup"

    def __init__(self, arguments: Arguments) -> None:
        """Take no arguments."""

    def on_session_open(self, ssn: Session) -> None:
        """Sort the nodes into groups, and register filter and score."""
        self._ssn = ssn
        names = [info.labels.get(NODE_GROUP, "") for info in ssn.nodes.info]
        self._groups = sorted(set(names))
        index = {group: number for number, group in enumerate(self._groups)}
        self._group_of = np.array([index[group] for group in names], dtype=np.intp)
        self._refused = ssn.reasons.intern(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, NOT_SATISFIED)
        self._verdicts: dict[str, Ints] = {}
        self._scores: dict[str, Floats] = {}
        ssn.add_node_order(self.name, self._node_order, per="class")
        ssn.add_predicate(self.name, self._predicate, per="class")

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

    def _affinity(self, name: str) -> Affinity:
        queue = self._ssn.queues.get(name)
        return Affinity() if queue is None else Affinity.of(queue.queue.spec.affinity)

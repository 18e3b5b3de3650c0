"""Nodes as columns: the fields of Node objects that filters and scores read.

The columns are kept as long as the nodes stay the same, from session to session. What is only
needed for some pods (a label, an image, a selector) is made when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...kubernetes.expressions.selectors import IN, LabelRequirement, NodeTerm
from ...kubernetes.objects import Node, Taint, Toleration
from .pod_requests import CPU, GPU, MEMORY, kube_amount
from .tolerations import untolerated

if TYPE_CHECKING:
    from ...model.node import NodeInfo

Mask = NDArray[np.bool_]
Codes = NDArray[np.int32]
Amounts = NDArray[np.int64]

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"

_KEPT = 512
"""The most cached results of each kind; beyond that all are recomputed."""

Answer = TypeVar("Answer")
Key = TypeVar("Key")


class LabelColumn(NamedTuple):
    """One label over all nodes.

    :param codes: by node, the place of its value in ``values``; ``len(values)`` without the label.
    """

    codes: Codes
    values: tuple[str, ...]

    @property
    def absent(self) -> int:
        """The code of nodes without the label."""
        return len(self.values)


class RequiredNodes(msgspec.Struct, frozen=True):
    """The nodes that a pod must run on: all of ``labels``, and one of ``terms`` unless ``None``.

    Source: k8s.io/component-helpers/scheduling/corev1/nodeaffinity GetRequiredNodeAffinity.
    """

    labels: tuple[LabelRequirement, ...] = ()
    terms: tuple[NodeTerm, ...] | None = None


ANY_NODE = RequiredNodes()


class _Facts(NamedTuple):
    """What one node object says in numbers."""

    cpu: int
    memory: int
    gpu: int
    unschedulable: bool
    taints: tuple[Taint, ...]


class NodeColumns:
    """Columns over the nodes of a snapshot, in order of their rows."""

    def __init__(self, infos: Sequence[NodeInfo], before: NodeColumns | None = None) -> None:
        self._infos = infos
        self._nodes: list[Node] = [info.node or Node() for info in infos]
        self._images = [info.images for info in infos]
        self.names = [node.name for node in self._nodes]
        self.labels = [node.labels for node in self._nodes]
        known = before.facts_by_node() if before is not None else {}
        # By identity: `before` keeps its nodes, so no other object can have the identity of one.
        facts = [known.get(id(node)) or _facts(node) for node in self._nodes]
        self._facts = facts
        amounts = np.array([fact[:3] for fact in facts], dtype=np.int64).reshape(-1, 3)
        self.amounts: Amounts = amounts
        """Nodes × (cpu, memory, gpu); as lists of ints, for a node at a time, too."""
        self.amount_lists: list[list[int]] = amounts.tolist()
        self.cpu: Amounts = amounts[:, 0].copy()
        """Allocatable milli-cores of the node object, without oversubscription."""
        self.memory: Amounts = amounts[:, 1].copy()
        self.gpu: Amounts = amounts[:, 2].copy()
        self.unschedulable: Mask = np.array([fact.unschedulable for fact in facts], dtype=np.bool_)
        self.taint_codes, self.taint_sets = _coded(fact.taints for fact in facts)
        self.has_images = any(self._images)
        self._label_columns: dict[str, LabelColumn] = {}
        self._masks: dict[object, Mask] = {}
        self._image_scores: dict[str, Amounts] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def facts_by_node(self) -> dict[int, _Facts]:
        """Return the facts of Node objects by identity, for later columns."""
        return {id(node): fact for node, fact in zip(self._nodes, self._facts, strict=True)}

    def holds(self, infos: Sequence[NodeInfo]) -> bool:
        """Return whether these columns are those of these nodes."""
        if infos is not self._infos:
            nodes = [info.node for info in infos]
            if nodes != self._nodes or [info.images for info in infos] != self._images:
                return False
            self._infos = infos  # the next comparison with this list is quick
        return True

    def label(self, key: str) -> LabelColumn:
        """Return the column of a label."""
        known = self._label_columns.get(key)
        if known is None:
            codes, values = _coded(labels.get(key) for labels in self.labels)
            known = self._label_columns[key] = _absent_last(codes, values)
        return known

    def required(self, required: RequiredNodes) -> Mask:
        """Return which nodes a pod with these requirements may run on."""
        if required == ANY_NODE:
            return self.every
        return self._kept(required, self._required)

    def term(self, term: NodeTerm) -> Mask:
        """Return which nodes satisfy a term."""
        return self._kept(term, self._term)

    def has_one_of(self, key: str, values: Sequence[str]) -> Mask:
        """Return which nodes have a label of one of these values."""
        return self._all_of((LabelRequirement(key, IN, tuple(values)),))

    def has(self, key: str) -> Mask:
        """Return which nodes have a label."""
        column = self.label(key)
        mask: Mask = column.codes != column.absent
        return mask

    @property
    def every(self) -> Mask:
        """All nodes."""
        return self._kept("every", lambda _: np.ones(len(self), dtype=np.bool_))

    def tolerable(self, tolerations: tuple[Toleration, ...]) -> Mask:
        """Return which nodes have no taint that excludes pods with these tolerations."""
        return self._kept(("tolerable", tolerations), lambda _: self._tolerable(tolerations))

    def by_taints(self, judge: Callable[[tuple[Taint, ...]], int]) -> Codes:
        """Return, by node, the result of ``judge`` for its taints; each set is judged once."""
        judged = np.array([judge(taints) for taints in self.taint_sets], dtype=np.int32)
        return judged[self.taint_codes] if len(self) else self.taint_codes

    def image_scores(self, image: str) -> Amounts:
        """Return, by node, an image's size scaled by how many of the nodes have it.

        Source: imagelocality/image_locality.go scaledImageScore.
        """
        known = self._image_scores.get(image)
        if known is None:
            total = len(self)
            states = [images.get(image) for images in self._images]
            scores = [
                0 if state is None else int(float(state.size) * (state.nodes / total))
                for state in states
            ]
            known = self._image_scores[image] = np.array(scores, dtype=np.int64)
        return known

    def _kept(self, key: Key, make: Callable[[Key], Mask]) -> Mask:
        known = self._masks.get(key)
        if known is None:
            # Dropped together, as nothing says which of them later pods will need.
            if len(self._masks) >= _KEPT:
                self._masks.clear()
            known = self._masks[key] = make(key)
        return known

    def _required(self, required: RequiredNodes) -> Mask:
        mask = self._all_of(required.labels)
        if required.terms is not None:
            any_term = np.zeros(len(self), dtype=np.bool_)
            for term in required.terms:
                any_term |= self._term(term)
            mask &= any_term
        return mask

    def _term(self, term: NodeTerm) -> Mask:
        mask = self._all_of(term.labels)
        for field in term.fields:
            mask &= self._field(field)
        return mask

    def _all_of(self, requirements: Iterable[LabelRequirement]) -> Mask:
        mask = np.ones(len(self), dtype=np.bool_)
        for requirement in requirements:
            codes, values = self.label(requirement.key)
            good = [requirement.holds(value) for value in (*values, None)]
            mask &= np.array(good, dtype=np.bool_)[codes]
        return mask

    def _field(self, field: LabelRequirement) -> Mask:
        """Return which nodes have a value in a field; all fields but the name are empty."""
        wanted = field.values[0]
        if field.key == "metadata.name":
            same = np.array([name == wanted for name in self.names], dtype=np.bool_)
        else:
            same = np.full(len(self), not wanted)
        return same if field.operator == IN else ~same

    def _tolerable(self, tolerations: tuple[Toleration, ...]) -> Mask:
        mask: Mask = self.by_taints(lambda taints: untolerated(taints, tolerations) is None) == 1
        return mask


def _facts(node: Node) -> _Facts:
    has = node.status.allocatable
    return _Facts(
        kube_amount(has, CPU),
        kube_amount(has, MEMORY),
        kube_amount(has, GPU),
        node.spec.unschedulable,
        node.spec.taints,
    )


def _coded(values: Iterable[Answer]) -> tuple[Codes, tuple[Answer, ...]]:
    """Return a number for each value, and the values in order of these numbers."""
    codes: dict[Answer, int] = {}
    coded = np.array([codes.setdefault(value, len(codes)) for value in values], dtype=np.int32)
    return coded, tuple(codes)


def _absent_last(codes: Codes, values: tuple[str | None, ...]) -> LabelColumn:
    """Return a label's column in which nodes without it have the last code."""
    present = tuple(value for value in values if value is not None)
    places = {value: place for place, value in enumerate(present)}
    order = [len(present) if value is None else places[value] for value in values]
    moved = np.array(order, dtype=np.int32)[codes] if len(codes) else codes
    return LabelColumn(moved, present)


def normalized_image(name: str) -> str:
    """Return an image's name with ``:latest`` if it has no tag.

    Source: imagelocality/image_locality.go normalizedImageName.
    """
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"

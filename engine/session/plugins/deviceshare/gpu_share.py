"""GPUs shared by memory, or given out whole.

Pods request ``volcano.sh/gpu-memory`` or ``volcano.sh/gpu-number``.

Source: pkg/scheduler/api/devices/nvidia/gpushare.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....kubernetes.go.int64 import as_unsigned
from ....kubernetes.go.text import parse_int
from ....kubernetes.objects import Node, Pod
from ....kubernetes.quantity import parse
from ....model.device_log import SHARED_CARDS

MEMORY = "volcano.sh/gpu-memory"
NUMBER = "volcano.sh/gpu-number"
INDEX = SHARED_CARDS
TIME = "volcano.sh/predicate-time"
UNHEALTHY = "volcano.sh/gpu-unhealthy-ids"

_FINISHED = frozenset({"Succeeded", "Failed"})


def most_of(pod: Pod, resource: str) -> int:
    """Return a pod's limit of a resource: the sum of containers, or the largest init container.

    Source: share.go getGPUMemoryOfPod, getGPUNumberOfPod.
    """
    together = sum(
        _limit(container.resources.limits, resource) for container in pod.spec.containers
    )
    inits = [_limit(container.resources.limits, resource) for container in pod.spec.init_containers]
    return max([together, *inits])


def _limit(limits: Mapping[str, str | float], resource: str) -> int:
    return parse(limits[resource]).value() if resource in limits else 0


def gpu_index(annotations: Mapping[str, str]) -> list[int]:
    """Return a pod's cards; none if the annotation is not a list of numbers.

    Source: share.go GetGPUIndex.
    """
    text = annotations.get(INDEX)
    if text is None:
        return []
    cards = [parse_int(part) for part in text.split(",")]
    known = [card for card in cards if card is not None]
    return known if len(known) == len(cards) else []


class SharedGpus:
    """The cards of one node, each with the pods on it by UID.

    :param whole: pods with whole cards are counted with what their annotations say.
    """

    def __init__(self, node: str, cards: int, memory: int, *, whole: bool = True) -> None:
        self.node = node
        self._whole = whole
        self.memory = memory
        self.pods: dict[int, dict[str, Pod]] = {card: {} for card in range(cards)}

    @classmethod
    def of(cls, node: Node, *, whole: bool = True) -> SharedGpus | None:
        """Return a node's cards; None if it does not report both their memory and their number.

        Source: device_info.go NewGPUDevices.
        """
        capacity = node.status.capacity
        if MEMORY not in capacity or NUMBER not in capacity:
            return None
        cards = parse(capacity[NUMBER]).value()
        if cards == 0:
            return None
        gpus = cls(node.name, cards, parse(capacity[MEMORY]).value() // cards, whole=whole)
        for text in node.annotations.get(UNHEALTHY, "").split(","):
            card = parse_int(text)
            if card is not None:
                gpus.pods.pop(card, None)
        return gpus

    def add(self, pod: Pod, annotations: Mapping[str, str]) -> None:
        """Add a pod to its cards from an earlier session (AddResource)."""
        if self._counts(pod):
            for card in gpu_index(annotations):
                if card in self.pods:
                    self.pods[card][pod.uid] = pod

    def sub(self, pod: Pod) -> None:
        """Remove a pod from the cards in its annotation (SubResource)."""
        if self._counts(pod):
            self.remove(pod)

    def clone(self) -> SharedGpus:
        """Return a copy with the same pods."""
        copy = SharedGpus(self.node, 0, self.memory, whole=self._whole)
        copy.pods = {card: dict(pods) for card, pods in self.pods.items()}
        return copy

    def _counts(self, pod: Pod) -> bool:
        return most_of(pod, MEMORY) > 0 or (self._whole and most_of(pod, NUMBER) > 0)

    def remove(self, pod: Pod) -> None:
        """Remove a pod from the cards in its annotation (Release)."""
        for card in gpu_index(pod.annotations):
            if card in self.pods:
                self.pods[card].pop(pod.uid, None)

    def release(self, pod: Pod) -> list[int]:
        """Remove a pod from its cards, and return them (SubResource)."""
        had = [card for card, pods in self.pods.items() if pod.uid in pods]
        for card in had:
            del self.pods[card][pod.uid]
        return had

    def filter(self, pod: Pod, *, sharing: bool, number: bool) -> tuple[str, str] | None:
        """Return why a pod cannot run here: of which kind of device, and the error; None if it can.

        Source: device_info.go FilterNode.
        """
        if sharing and most_of(pod, MEMORY) > 0 and not self.by_memory(pod):
            return "GpuShare", f"no enough gpu memory on node {self.node}"
        if number and most_of(pod, NUMBER) > 0 and not self.by_number(pod):
            return "GpuNumber", f"no enough gpu number on node {self.node}"
        return None

    def by_memory(self, pod: Pod) -> list[int]:
        """Return the cards with enough free memory, in ascending order.

        Negative free memory becomes a huge number, because it is unsigned in Volcano.
        """
        wanted = most_of(pod, MEMORY)
        return [card for card in self.pods if as_unsigned(self.memory - self._used(card)) >= wanted]

    def by_number(self, pod: Pod) -> list[int]:
        """Return as many empty cards as the pod wants; none if there are fewer."""
        wanted = most_of(pod, NUMBER)
        # The order of a map there (`getDevicesIdleGPUs`); here the lowest numbers come first.
        empty = [card for card, pods in self.pods.items() if not pods]
        return empty[:wanted] if len(empty) >= wanted else []

    def allocate(self, pod: Pod) -> tuple[list[int], str]:
        """Assign cards to a pod; return them, and the error if there are none.

        Source: device_info.go Allocate.
        """
        given: list[int] = []
        for resource, find, most in ((MEMORY, self.by_memory, 1), (NUMBER, self.by_number, None)):
            if most_of(pod, resource) > 0:
                cards = find(pod)[:most]
                if not cards:
                    return given, (
                        f"the node {self.node} can't place the pod {pod.name} in ns {pod.namespace}"
                    )
                for card in cards:
                    self.pods[card][pod.uid] = pod
                # A pod that requests both is on the cards of both, but its annotation names only
                # these: the second patch replaces the first.
                given = cards
        return given, ""

    def _used(self, card: int) -> int:
        # Only memory ignores pods that ended: where whole cards are given, theirs is not empty
        # (`isIdleGPU`).
        return sum(
            most_of(pod, MEMORY)
            for pod in self.pods[card].values()
            if pod.status.phase not in _FINISHED
        )

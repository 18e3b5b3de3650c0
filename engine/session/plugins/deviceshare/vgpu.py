"""Virtual GPUs: parts of a card's memory and cores (``volcano.sh/vgpu-number`` and the like).

Source: pkg/scheduler/api/devices/nvidia/vgpu.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ....belief.go_text import parse_int
from ....belief.objects import Container, Node, Pod
from ....belief.panic import Panic
from ....quantity import parse
from ....units import SECOND_US
from .mig import Geometry, MigUsage, decode_instance, find_match, geometries_of, use

NUMBER = "volcano.sh/vgpu-number"
MEMORY = "volcano.sh/vgpu-memory"
MEMORY_PERCENTAGE = "volcano.sh/vgpu-memory-percentage"
CORES = "volcano.sh/vgpu-cores"
REGISTER = "volcano.sh/node-vgpu-register"
HANDSHAKE = "volcano.sh/node-vgpu-handshake"
ASSIGNED = "volcano.sh/vgpu-ids-new"
MODE = "volcano.sh/vgpu-mode"
USE_TYPE = "nvidia.com/use-gputype"
NO_USE_TYPE = "nvidia.com/nouse-gputype"

HAMI_CORE = "hami-core"
MIG = "mig"
NVIDIA = "NVIDIA"
HANDSHAKE_US = 60 * SECOND_US
NO_PERCENTAGE = 101


class Request(NamedTuple):
    """What one container asks for: cards, and of each memory, or a percentage of it, and cores."""

    cards: int
    memory: int
    percentage: int
    cores: int


class Given(NamedTuple):
    """A card, or an instance of it, that a container was given."""

    uuid: str
    memory: int
    cores: int


@dataclass(slots=True)
class Card:
    """One card, and what is used of it; ``pods`` are those that were counted, by UID."""

    uuid: str
    number: int
    memory: int
    type: str
    geometries: tuple[Geometry, ...] = ()
    used_number: int = 0
    used_memory: int = 0
    used_cores: int = 0
    mig: MigUsage = field(default_factory=MigUsage)
    pods: set[str] = field(default_factory=set)

    def clone(self) -> Card:
        """Return a copy whose account is its own."""
        return replace(self, mig=self.mig.clone(), pods=set(self.pods))

    def count(self, memory: int, cores: int) -> None:
        """Add to what is used."""
        self.used_number += 1
        self.used_memory += memory
        self.used_cores += cores

    def holds(self, request: Request, annotations: Mapping[str, str]) -> bool:
        """Return whether the card has room, and is of a type that the pod takes.

        All cores mean the card for oneself; none of them cannot be had of a card that is full.
        """
        return (
            self.number > self.used_number
            and self.memory - self.used_memory >= request.memory
            and self.used_cores + request.cores <= 100
            and not (request.cores == 100 and self.used_number > 0)
            and not (request.cores == 0 and self.used_cores == 100)
            and NVIDIA in self.type
            and type_matches(annotations, self.type)
        )


def type_matches(annotations: Mapping[str, str], card_type: str) -> bool:
    """Return whether a pod's annotations take a type of card, or do not refuse it.

    Source: utils.go checkGPUtype.
    """
    for key, wanted in ((USE_TYPE, True), (NO_USE_TYPE, False)):
        if key in annotations:
            named = annotations[key].split(",")
            return any(part.upper() in card_type.upper() for part in named) is wanted
    return True


def registers_mig(node: Node) -> bool:
    """Say whether a node's agent registered a card that is cut into instances."""
    cards = node.annotations.get(REGISTER, "").split(":")
    return any(card.split(",")[5:6] == [MIG] for card in cards)


class VirtualGpus:
    """The cards of one node."""

    def __init__(self, node: str, mode: str, cards: Sequence[Card]) -> None:
        self.node = node
        self.mode = mode
        self.cards = list(cards)

    @classmethod
    def of(
        cls,
        node: Node,
        config: Mapping[str, Any],
        now: int,
        *,
        handshake: bool = True,
        modes: bool = True,
    ) -> VirtualGpus | None:
        """Return the cards that a node's agent registered; None if it did not, or has gone.

        :param config: the device configuration, with the geometries of MIG.
        :param now: microseconds since 1970; an agent that has not answered for a minute has gone.
        :param handshake: ask whether the agent answers; else whether the node has anything to give.
        :param modes: agents tell in which mode cards are shared.

        Source: device_info.go NewGPUDevices, utils.go decodeNodeDevices.
        """
        annotations = node.annotations
        if REGISTER not in annotations or not _is_there(node, handshake=handshake):
            return None
        cards, mode = [], HAMI_CORE
        for text in annotations[REGISTER].split(":"):
            if "," not in text:
                continue
            items = text.split(",")
            if len(items) < (6 if modes else 5):
                return None
            mode = MIG if modes and items[5] == MIG else HAMI_CORE
            geometries = geometries_of(config, items[3]) if mode == MIG else None
            if geometries is None:
                mode = HAMI_CORE
            uuid, number, memory = items[0], parse_int(items[1]) or 0, parse_int(items[2]) or 0
            cards.append(Card(uuid, number, memory, items[3], geometries or ()))
        if not cards or ":" not in annotations[REGISTER]:
            return None
        if handshake and not _answers(annotations[HANDSHAKE], now):
            return None
        return cls(node.name, mode if modes else "", cards)

    def clone(self) -> VirtualGpus:
        """Return a copy whose accounts are its own."""
        return VirtualGpus(self.node, self.mode, [card.clone() for card in self.cards])

    def add(self, uid: str, annotations: Mapping[str, str]) -> None:
        """Count what a pod was given before, once for each card.

        Source: device_info.go addResource.
        """
        for given in decode_given(annotations.get(ASSIGNED, "")):
            for card in self.cards:
                if card.uuid in given.uuid and uid not in card.pods:
                    memory = given.memory
                    if self.mode == MIG:
                        instance = decode_instance(given.uuid)
                        if instance is None:
                            continue
                        memory = use(card.mig, card.geometries, *instance)
                    card.pods.add(uid)
                    card.count(memory, given.cores)

    def fit(self, pod: Pod) -> list[list[Given]] | None:
        """Count what a pod would be given, and return it by container; None if it has no room.

        It is counted even if in the end there is no room: ask a copy to try.

        Source: utils.go checkNodeGPUSharingPredicateAndScore.
        """
        mode = pod.annotations.get(MODE)
        if mode is not None and self.mode and mode != self.mode:
            return None
        given = []
        for request in requests_of(pod):
            if request.cards > len(self.cards):
                return None
            got = self._give(request, pod.annotations)
            if got is None:
                return None
            given.append(got)
        return given

    def refusal(self, pod: Pod) -> str:
        """Return why a pod that has no room has none."""
        if any(request.cards > len(self.cards) for request in requests_of(pod)):
            return f"no enough gpu cards on node {self.node}"
        return "not enough gpu fitted on this node"

    def _give(self, request: Request, annotations: Mapping[str, str]) -> list[Given] | None:
        """Give one container its cards, the last first.

        A percentage below 100 comes to nothing, and 100 % is the memory of the first card looked
        at.
        """
        left, got = request.cards, []
        for card in reversed(self.cards):
            if card.number <= card.used_number:
                continue
            if request.percentage != NO_PERCENTAGE and request.memory == 0:
                request = request._replace(memory=card.memory * (request.percentage // 100))
            if not card.holds(request, annotations):
                continue
            uuid = self._take(card, request)
            if uuid is None:
                continue
            if left > 0:
                left -= 1
                got.append(Given(uuid, request.memory, request.cores))
            if left == 0:
                break
        return None if left > 0 else got

    def _take(self, card: Card, request: Request) -> str | None:
        """Source: hamicore.go and mig.go TryAddPod."""
        if self.mode != MIG:
            card.count(request.memory, request.cores)
            return card.uuid
        match = find_match(card.uuid, request.memory, card.mig, card.geometries)
        if match is None:
            return None
        card.count(match[1], request.cores)
        return match[0]


def asks(pod: Pod) -> bool:
    """Return whether a pod asks for virtual GPUs."""
    limits = [container.resources.limits for container in pod.spec.containers]
    return any(MEMORY in limit or NUMBER in limit for limit in limits)


def requests_of(pod: Pod) -> Iterator[Request]:
    """Yield what each container that asks for virtual GPUs asks for.

    Source: utils.go resourcereqs.
    """
    for container in pod.spec.containers:
        limits = container.resources.limits
        if NUMBER not in limits and MEMORY not in limits:
            continue
        cards = 1 if NUMBER not in limits else _as_int64(limits[NUMBER]) or 0
        memory = _amount(container, MEMORY, 0)
        percentage = _amount(container, MEMORY_PERCENTAGE, NO_PERCENTAGE)
        if percentage == NO_PERCENTAGE and memory == 0:
            percentage = 100
        yield Request(cards, memory, percentage, _amount(container, CORES, 0))


def _amount(container: Container, resource: str, default: int) -> int:
    """Return a limit, or else a request; the default if there is neither, or no whole number."""
    for amounts in (container.resources.limits, container.resources.requests):
        if resource in amounts:
            whole = _as_int64(amounts[resource])
            return default if whole is None else whole
    return default


def _as_int64(text: str | float) -> int | None:
    """Source: k8s.io/apimachinery/pkg/api/resource/quantity.go AsInt64."""
    quantity = parse(text)
    if quantity.big or quantity.power < 0:
        return None
    return quantity.value()


def encode_given(given: Sequence[Sequence[Given]]) -> str:
    """Return the annotation that says what a pod was given.

    Source: utils.go encodePodDevices.
    """
    return ";".join(
        "".join(f"{each.uuid},{NVIDIA},{each.memory},{each.cores}:" for each in container)
        for container in given
    )


def decode_given(text: str) -> Iterator[Given]:
    """Yield what an annotation says that a pod was given.

    :raises Panic: an entry has too few fields; the scheduler does not look.

    Source: utils.go decodePodDevices.
    """
    for part in text.replace(";", ":").split(":"):
        if "," in part:
            fields = part.split(",")
            if len(fields) < 4:
                raise Panic(
                    f"runtime error: index out of range [{len(fields)}] with length {len(fields)}",
                    ("api/devices/nvidia/vgpu.decodeContainerDevices",),
                )
            yield Given(fields[0], parse_int(fields[2], 32) or 0, parse_int(fields[3], 32) or 0)


def _is_there(node: Node, *, handshake: bool) -> bool:
    """Say whether a node takes part at all: it was asked, or has all three resources."""
    if handshake:
        return HANDSHAKE in node.annotations
    allocatable = node.status.allocatable
    return all(
        name in allocatable and parse(allocatable[name]).value() != 0
        for name in (NUMBER, CORES, MEMORY)
    )


def _answers(handshake: str, now: int) -> bool:
    """Return whether a node's agent is there: it answers within a minute of being asked."""
    if "Requesting" in handshake:
        asked = handshake.partition("_")[2]
        try:
            moment = datetime.strptime(asked, "%Y.%m.%d %H:%M:%S").replace(tzinfo=UTC)
        except ValueError:
            return False
        return now <= int(moment.timestamp()) * SECOND_US + HANDSHAKE_US
    return "Deleted" not in handshake

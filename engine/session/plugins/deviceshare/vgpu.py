"""Virtual GPUs: parts of a card's memory and cores (``volcano.sh/vgpu-number`` and the like).

Source: pkg/scheduler/api/devices/nvidia/vgpu.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf, nan
from typing import Any

import msgspec
from msgspec.structs import replace

from ....kubernetes.go.int64 import as_unsigned
from ....kubernetes.go.text import parse_int
from ....kubernetes.objects import Node, Pod
from ....model.device_log import VIRTUAL_CARDS
from ....model.panic import NIL_POINTER, Panic
from ....volcano.session.devices import VirtualGpuUse
from .mig import (
    Geometry,
    MigUsage,
    decode_instance,
    find_match,
    geometries_of,
    release_instance,
    use,
)
from .register import REGISTER, unregistered
from .vgpu_request import NO_PERCENTAGE, CardNames, CardRequest, requests_of

DEVICE = "hamivgpu"
"""How the scheduler names the kind of device."""
ASSIGNED = VIRTUAL_CARDS
MODE = "volcano.sh/vgpu-mode"
ASSIGNED_NODE = "volcano.sh/vgpu-node"
BIND_PHASE = "volcano.sh/bind-phase"
TO_ALLOCATE = "volcano.sh/devices-to-allocate"
TIME = "volcano.sh/vgpu-time"
BIND_TIME = "volcano.sh/bind-time"
GANG_POLICY = "volcano.sh/vgpu-podgroup-policy"
SHORTAGES = "card-shortages"
"""What details about what each card of a node lacks for a pod are kept under."""
USE_TYPE = "nvidia.com/use-gputype"
NO_USE_TYPE = "nvidia.com/nouse-gputype"

BINPACK = "binpack"
SPREAD = "spread"
HAMI_CORE = "hami-core"
MIG = "mig"
NVIDIA = "NVIDIA"

_GROUP_NAMES = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")


class Sharing(msgspec.Struct, frozen=True):
    """How cards are chosen: by the release and the configured policy."""

    use: VirtualGpuUse = VirtualGpuUse.FROM_LAST
    policy: str = ""
    names: CardNames = CardNames()
    memory_unsigned: bool = False
    """A card of which more memory is used than it has accepts every request, as in v1.9."""
    cores_unsigned: bool = False
    """One of which more cores are used than it has accepts every request."""
    counts_once: bool = True
    """What a pod has of a card counts one time, and is not free again below 0."""
    unwanted_allowed: bool = False
    """The only type of GPU that a pod does not want is allowed."""
    unknown_crash: bool = False
    """Taking back what was not counted crashes the scheduler."""

    @property
    def adds_up(self) -> bool:
        """Whether a pod counts again for each container, and each time that it is added."""
        return not self.counts_once or self.use in {VirtualGpuUse.COUNTED, VirtualGpuUse.BY_SHARE}

    @property
    def forgets(self) -> bool:
        """Whether a pod is no more known when it was taken back."""
        return self.use is VirtualGpuUse.BY_POLICY

    @property
    def exact(self) -> bool:
        """Whether a percentage refers to each card's memory."""
        return self.use in {VirtualGpuUse.BY_SHARE, VirtualGpuUse.BY_POLICY}


class GivenCard(msgspec.Struct, frozen=True):
    """A card, or an instance of it, of a container."""

    uuid: str
    memory: int
    cores: int


class CardShort(msgspec.Struct, frozen=True):
    """What a card lacks for a container.

    :param what: its ``type`` is not accepted, all its ``number`` of parts are taken, or of its
        ``memory`` or ``cores`` less is free than wanted. :param has: what is free, or its parts.
    """

    what: str
    type: str
    has: int
    wanted: int


class Card(msgspec.Struct):
    """One card, and its use.

    ``pods`` are those that were counted, by UID, with ``namespace/name`` of their PodGroup if they
    have some of the card; ``held`` is how much of its memory they have.
    """

    uuid: str
    number: int
    memory: int
    type: str
    geometries: tuple[Geometry, ...] = ()
    used_number: int = 0
    used_memory: int = 0
    used_cores: int = 0
    mig: MigUsage = msgspec.field(default_factory=MigUsage)
    pods: dict[str, str] = msgspec.field(default_factory=dict)
    held: dict[str, int] = msgspec.field(default_factory=dict)

    def clone(self) -> Card:
        """Return a copy whose account is its own."""
        return replace(self, mig=self.mig.clone(), pods=dict(self.pods), held=dict(self.held))

    def count(self, memory: int, cores: int) -> None:
        """Add to what is used."""
        self.used_number += 1
        self.used_memory += memory
        self.used_cores += cores

    def discount(self, memory: int, cores: int) -> None:
        """Take from what is used."""
        self.used_number -= 1
        self.used_memory -= memory
        self.used_cores -= cores

    @property
    def is_full(self) -> bool:
        """Whether no part is free; a number below 0 is a huge one."""
        return self.number <= as_unsigned(self.used_number)

    def shortage(
        self, request: CardRequest, annotations: Mapping[str, str], sharing: Sharing
    ) -> CardShort | None:
        """Return what the card lacks for a request; None if it is nothing of these."""
        if NVIDIA not in self.type or not type_matches(
            annotations, self.type, unwanted_allowed=sharing.unwanted_allowed
        ):
            return CardShort("type", self.type, 0, 0)
        if self.is_full:
            return CardShort("number", self.type, self.number, self.used_number)
        free = {"memory": self.memory - self.used_memory, "cores": 100 - self.used_cores}
        wanted = {"memory": request.memory, "cores": request.cores}
        for name, has in free.items():
            if 0 <= has < wanted[name]:
                return CardShort(name, self.type, has, wanted[name])
        return None

    def holds(
        self,
        request: CardRequest,
        annotations: Mapping[str, str],
        sharing: Sharing = Sharing(),  # noqa: B008 -- a tuple
    ) -> bool:
        """Return whether the card has room, and a type that the pod accepts.

        100 cores mean exclusive use; a full card cannot be shared even with 0 cores.
        """
        memory, cores = self.memory - self.used_memory, 100 - self.used_cores
        if sharing.memory_unsigned:
            memory = as_unsigned(memory)
        if sharing.cores_unsigned:
            cores = as_unsigned(cores)
        elif sharing.counts_once and self.used_cores + request.cores < 0:
            return False  # the sum is a huge number there
        return (
            not self.is_full
            and memory >= request.memory
            and cores >= request.cores
            and not (request.cores == 100 and self.used_number != 0)
            and not (request.cores == 0 and self.used_cores == 100)
            and NVIDIA in self.type
            and type_matches(annotations, self.type, unwanted_allowed=sharing.unwanted_allowed)
        )


def type_matches(
    annotations: Mapping[str, str], card_type: str, *, unwanted_allowed: bool = False
) -> bool:
    """Return whether a pod's annotations allow a type of card.

    :param unwanted_allowed: the only type that a pod does not want is allowed.

    Source: utils.go checkGPUtype.
    """
    for key, wanted in ((USE_TYPE, True), (NO_USE_TYPE, False)):
        if key in annotations:
            named = annotations[key].split(",")
            if unwanted_allowed and not wanted and len(named) == 1:
                return True
            return any(part.upper() in card_type.upper() for part in named) is wanted
    return True


def registers_mig(node: Node) -> bool:
    """Return whether a node's agent registered a card with MIG."""
    cards = node.annotations.get(REGISTER, "").split(":")
    return any(card.split(",")[5:6] == [MIG] for card in cards)


class Fit(msgspec.Struct, frozen=True):
    """A pod's possible cards, by container, and their score."""

    given: list[list[GivenCard]]
    score: float


class VirtualGpus:
    """The cards of one node."""

    def __init__(
        self,
        node: str,
        mode: str,
        cards: Sequence[Card],
        sharing: Sharing = Sharing(),  # noqa: B008 -- a tuple
    ) -> None:
        self.node = node
        self.mode = mode
        self.cards = list(cards)
        self.sharing = sharing

    @classmethod
    def of(
        cls,
        node: Node,
        config: Mapping[str, Any],
        now: int,
        *,
        handshake: bool = True,
        modes: bool = True,
        sharing: Sharing = Sharing(),  # noqa: B008 -- a tuple
    ) -> VirtualGpus | None:
        """Return the cards that a node's agent registered; None if it did not, or is gone.

        :param config: the device configuration, with the geometries of MIG.
        :param now: microseconds since 1970; an agent without an answer for a minute is gone.
        :param handshake: check whether the agent answers; else whether GPUs are allocatable.
        :param modes: agents report the sharing mode of cards.

        Source: device_info.go NewGPUDevices, utils.go decodeNodeDevices.
        """
        if unregistered(node, now, handshake=handshake, modes=modes) is not None:
            return None
        cards, mode = [], HAMI_CORE
        for text in node.annotations[REGISTER].split(":"):
            if "," not in text:
                continue
            items = text.split(",")
            mode = MIG if modes and items[5] == MIG else HAMI_CORE
            geometries = geometries_of(config, items[3]) if mode == MIG else None
            if geometries is None:
                mode = HAMI_CORE
            uuid, number, memory = items[0], parse_int(items[1]) or 0, parse_int(items[2]) or 0
            cards.append(Card(uuid, number, memory, items[3], geometries or ()))
        return cls(node.name, mode if modes else "", cards, sharing)

    def clone(self) -> VirtualGpus:
        """Return a copy whose accounts are its own."""
        cards = [card.clone() for card in self.cards]
        return VirtualGpus(self.node, self.mode, cards, self.sharing)

    def tries(self, pod: Pod) -> float | None:
        """Return the score of a pod's possible cards; None if there is no room.

        Source: device_info.go FilterNode.
        """
        fit = self.clone().fit(pod)
        return None if fit is None else fit.score

    def add(self, uid: str, annotations: Mapping[str, str], gang: str = "") -> None:
        """Count a pod's devices from an earlier session, once for each card.

        :param gang: ``namespace/name`` of its PodGroup.

        Source: device_info.go addResource.
        """
        again = self.sharing.adds_up and self.mode != MIG
        for given in decode_given(annotations.get(ASSIGNED, "")):
            for card in self.cards:
                # `strings.Contains`: the name of a MIG instance has its card's UUID in it.
                if card.uuid in given.uuid and (again or uid not in card.pods):
                    memory = given.memory
                    if self.mode == MIG:
                        instance = decode_instance(given.uuid)
                        if instance is None:
                            continue
                        memory = use(card.mig, card.geometries, *instance)
                    card.pods[uid] = gang if memory or given.cores else ""
                    card.held[uid] = card.held.get(uid, 0) + memory
                    card.count(memory, given.cores)

    def note(self, uid: str, given: Sequence[Sequence[GivenCard]], gang: str = "") -> None:
        """Store the pod of the devices that :meth:`fit` counted.

        Source: device_info.go addToPodMap.
        """
        for each in (each for container in given for each in container):
            for card in self.cards:
                if card.uuid in each.uuid:
                    before = card.pods.get(uid, "")
                    card.pods[uid] = gang if each.memory or each.cores else before
                    card.held[uid] = card.held.get(uid, 0) + each.memory

    def remove(self, uid: str, annotations: Mapping[str, str]) -> None:
        """Release a pod's devices.

        Up to v1.14 the pod is known until it has no memory of the card.

        :raises Panic: it is not known, and the release crashes then.

        Source: device_info.go SubResource, hamicore.go SubPod.
        """
        for given in decode_given(annotations.get(ASSIGNED, "")):
            card = next((card for card in self.cards if card.uuid in given.uuid), None)
            if card is None:
                continue
            if uid not in card.pods:
                if self.sharing.unknown_crash:
                    place = "api/devices/nvidia/vgpu.(*GPUDevices).SubResource"
                    raise Panic(NIL_POINTER, (place,))
                continue
            if self.mode == MIG:
                self._free_instance(card, given, uid)
                continue
            card.discount(given.memory, given.cores)
            card.held[uid] -= given.memory
            if self.sharing.forgets or card.held[uid] == 0:
                del card.pods[uid], card.held[uid]

    def _free_instance(self, card: Card, given: GivenCard, uid: str) -> None:
        """Release an instance of a card. Source: mig.go SubPod."""
        instance = decode_instance(given.uuid)
        if instance is None:
            return
        memory = release_instance(card.mig, card.geometries, *instance)
        # Up to v1.14 what the annotation says is given back, not what was counted; and the pod
        # stays known, so that its devices are not counted when it comes back.
        card.discount(memory if self.sharing.forgets else given.memory, given.cores)
        card.held[uid] -= memory
        if self.sharing.forgets:
            del card.pods[uid], card.held[uid]

    def fit(self, pod: Pod) -> Fit | None:
        """Count a pod's possible devices, and return them; None if there is no room.

        They are counted even if in the end there is no room: use a copy for attempts.

        Source: utils.go checkNodeGPUSharingPredicateAndScore.
        """
        mode = pod.annotations.get(MODE)
        if mode is not None and self.mode and mode != self.mode:
            return None
        so_far = Fit([], 0.0)
        for request in requests_of(pod, self.sharing.names):
            given = self._give(request, pod) if request.cards <= len(self.cards) else None
            if given is None:
                return None
            so_far = Fit([*so_far.given, *given.given], so_far.score + given.score)
        return so_far

    def shortages(self, pod: Pod) -> dict[str, CardShort]:
        """Return by card what it lacks for a container of a pod; of MIG and of few cards nothing.

        It is what they lack before anything is given to the pod.
        """
        lacks: dict[str, CardShort] = {}
        for request in requests_of(pod, self.sharing.names):
            for card in self.cards if self.mode != MIG else ():
                asked = _asked_of(card, request, exact=self.sharing.exact)
                short = card.shortage(asked, pod.annotations, self.sharing)
                if short is not None:
                    lacks.setdefault(card.uuid, short)
        return lacks

    def refusal(self, pod: Pod) -> str:
        """Return why a pod that has no room has none."""
        requests = requests_of(pod, self.sharing.names)
        if any(request.cards > len(self.cards) for request in requests):
            return f"no enough gpu cards on node {self.node}"
        return "not enough gpu fitted on this node"

    def _give(self, request: CardRequest, pod: Pod) -> Fit | None:
        """Give one container its cards."""
        left, got, score = request.cards, [], 0.0
        exact = self.sharing.exact
        for card in self._in_order(pod):
            if card.is_full:
                continue
            asked = _asked_of(card, request, exact=exact)
            # `val.Memreq` was written in the loop: what the first card makes of a percentage holds
            # for all.
            if not exact:
                request = asked
            if not card.holds(asked, pod.annotations, self.sharing):
                continue
            # Counted before it is clear that a card is wanted: a request of 0 cards uses one,
            # unnamed.
            uuid = self._take(card, asked)
            if uuid is None:
                continue
            if left > 0:
                left -= 1
                got.append(GivenCard(uuid, asked.memory, asked.cores))
                score += self._score(card)
            if left == 0:
                break
        return None if left > 0 else Fit([got], score)

    def _in_order(self, pod: Pod) -> list[Card]:
        """Return the cards in the order of assignment.

        That is the last first, or where a policy is heeded, those of which most memory is used
        (``binpack``), or of which least parts are (``spread``). There a pod may also refuse cards
        that another one of its gang has some of.

        Source: utils.go sortedDeviceIndicesByPolicy, deviceHasPodFromSameGroup.
        """
        if self.sharing.use is not VirtualGpuUse.BY_POLICY:
            return self.cards[::-1]
        cards, gang = self.cards, gang_of(pod)
        if gang and pod.annotations.get(GANG_POLICY) == SPREAD:
            cards = [card for card in cards if gang not in card.pods.values()]
        if self.sharing.policy == BINPACK:
            return sorted(cards, key=lambda card: -card.used_memory)
        if self.sharing.policy == SPREAD:
            return sorted(cards, key=lambda card: card.used_number)
        return cards[::-1]

    def _score(self, card: Card) -> float:
        """Score a card of which a part is assigned.

        With ``spread`` that is 100 for a card that no pod had before; where cards are assigned by
        policy, 0.

        Source: utils.go GPUScore.
        """
        if self.sharing.policy == BINPACK:
            # Division by 0 of Go's floats: no error, but infinite or no number.
            if not card.memory:
                return inf if card.used_memory else nan
            return 100 * (as_unsigned(card.used_memory) / card.memory)
        fresh = card.used_number == 1 and self.sharing.use is not VirtualGpuUse.BY_POLICY
        return 100.0 if self.sharing.policy == SPREAD and fresh else 0.0

    def _take(self, card: Card, request: CardRequest) -> str | None:
        """Source: hamicore.go and mig.go TryAddPod."""
        if self.mode != MIG:
            card.count(request.memory, request.cores)
            return card.uuid
        match = find_match(card.uuid, request.memory, card.mig, card.geometries)
        if match is None:
            return None
        card.count(match[1], request.cores)
        return match[0]


def _asked_of(card: Card, request: CardRequest, *, exact: bool) -> CardRequest:
    """Return the request for one card, with its memory.

    :param exact: a percentage is that of each card's memory, and counts before an amount; else one
        below 100 becomes 0, and 100 % is the memory of the first checked card.
    """
    if request.percentage == NO_PERCENTAGE or (request.memory and not exact):
        return request
    if exact:
        return msgspec.structs.replace(request, memory=int(card.memory * request.percentage / 100))
    return msgspec.structs.replace(request, memory=card.memory * (request.percentage // 100))


def gang_of(pod: Pod) -> str:
    """Return ``namespace/name`` of a pod's PodGroup; empty if it names none."""
    names = (pod.annotations.get(name) for name in _GROUP_NAMES)
    group = next((name for name in names if name), "")
    return f"{pod.namespace}/{group}" if group else ""


def encode_given(given: Sequence[Sequence[GivenCard]]) -> str:
    """Return the annotation for a pod's devices.

    Source: utils.go encodePodDevices.
    """
    return ";".join(
        "".join(f"{each.uuid},{NVIDIA},{each.memory},{each.cores}:" for each in container)
        for container in given
    )


def decode_given(text: str) -> Iterator[GivenCard]:
    """Yield a pod's devices from an annotation.

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
            yield GivenCard(fields[0], parse_int(fields[2], 32) or 0, parse_int(fields[3], 32) or 0)

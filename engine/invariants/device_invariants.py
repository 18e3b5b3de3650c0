"""The invariant of shared devices: what annotations give to pods, and what a node's cards have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from ..kubernetes.go.text import parse_int
from ..kubernetes.objects import Node, Pod
from ..model.panic import Panic
from ..session.plugins.deviceshare.gpu_share import MEMORY, NUMBER, SharedGpus, gpu_index, most_of
from ..session.plugins.deviceshare.register import REGISTER
from ..session.plugins.deviceshare.vgpu import (
    ASSIGNED,
    ASSIGNED_NODE,
    MIG,
    GivenCard,
    decode_given,
)
from .invariant import NODE, POD, Invariant, Needs, Severity, Violation, newest
from .view import ClusterView, has_ended

_CORES = 100
"""Percent of a card that pods may have together."""


class _Card(NamedTuple):
    """A card that a node's agent registered. :param parts: how many pods may share it."""

    parts: int
    memory: int


class _Use(msgspec.Struct):
    """What pods have of a card."""

    pods: dict[str, None] = msgspec.field(default_factory=dict)
    memory: int = 0
    cores: int = 0

    def over(self, card: _Card) -> Iterator[tuple[str, int, int]]:
        """Yield of what more is given out than the card has: what, how much, and the most."""
        if card.parts and len(self.pods) > card.parts:
            yield "parts", len(self.pods), card.parts
        if self.memory > card.memory:
            yield "memory", self.memory, card.memory
        if self.cores > _CORES:
            yield "cores", self.cores, _CORES


def devices_suffice(view: ClusterView, name: str) -> Iterator[Violation]:
    """Yield cards of a node of which pods have more than there is, and parts of another node's."""
    node: Node | None = view.truth.get("Node", name)
    pods = sorted((pod for pod, _ in view.pods.on(name) if not has_ended(pod)), key=_key)
    if node is None or not pods:
        return
    at = newest(node, *pods)
    for pod in pods:
        elsewhere = pod.annotations.get(ASSIGNED_NODE, name)
        if ASSIGNED in pod.annotations and elsewhere != name:
            message = f"it runs on node {name}, but has cards of node {elsewhere}"
            yield Violation("Pod", pod.key, message, "devices", newest(pod))
    cards = _registered(node)
    for uuid, use in sorted(_given(cards, pods).items()):
        for what, given, most in use.over(cards[uuid]):
            message = f"pods have {given} of {what} of card {uuid}, it has {most}"
            yield Violation("Node", name, message, f"{uuid}.{what}", at)
    yield from _shared(node, pods, at)


def _key(pod: Pod) -> str:
    return pod.key


def _registered(node: Node) -> dict[str, _Card]:
    """Return the cards in a node's annotation, by uuid; those in MIG mode have other rules.

    Source: pkg/scheduler/api/devices/nvidia/vgpu/utils.go decodeNodeDevices.
    """
    cards: dict[str, _Card] = {}
    for text in node.annotations.get(REGISTER, "").split(":"):
        items = text.split(",")
        if len(items) >= 5 and items[5:6] != [MIG]:
            cards[items[0]] = _Card(parse_int(items[1]) or 0, parse_int(items[2]) or 0)
    return cards


def _given(cards: Mapping[str, _Card], pods: list[Pod]) -> dict[str, _Use]:
    """Return what pods have of the cards of their node, by uuid."""
    uses: dict[str, _Use] = {}
    for pod in pods:
        for card in _decoded(pod):
            if card.uuid in cards:
                use = uses.setdefault(card.uuid, _Use())
                use.pods[pod.uid] = None
                use.memory += card.memory
                use.cores += card.cores
    return uses


def _decoded(pod: Pod) -> list[GivenCard]:
    try:
        return list(decode_given(pod.annotations.get(ASSIGNED, "")))
    except Panic:  # The annotation is malformed: nothing is known of it.
        return []


def _shared(node: Node, pods: list[Pod], at: int) -> Iterator[Violation]:
    """Yield cards that are shared by memory, or given out whole, and have too many pods."""
    gpus = SharedGpus.of(node)
    if gpus is None:
        return
    memory: dict[int, int] = {}
    whole: dict[int, list[str]] = {}
    for pod in pods:
        for card in gpu_index(pod.annotations):
            memory[card] = memory.get(card, 0) + most_of(pod, MEMORY)
            if most_of(pod, NUMBER) > 0:
                whole.setdefault(card, []).append(pod.name)
    for card, given in sorted(memory.items()):
        if given > gpus.memory:
            message = f"pods have {given} of memory of card {card}, it has {gpus.memory}"
            yield Violation("Node", node.name, message, f"{card}.memory", at)
    for card, names in sorted(whole.items()):
        if len(names) > 1:
            message = f"card {card} is given out whole to several pods: {', '.join(names)}"
            yield Violation("Node", node.name, message, f"{card}.whole", at)


INVARIANTS = (
    Invariant(
        id="I-03b",
        name="device-conservation",
        severity=Severity.CRITICAL,
        statement="The pods of a node have at most what its GPUs have, by their annotations.",
        needs=Needs.TRUTH,
        unit="Node",
        kinds=(NODE, POD),
        settles=True,
        check=devices_suffice,
    ),
)
"""The invariants of this module."""

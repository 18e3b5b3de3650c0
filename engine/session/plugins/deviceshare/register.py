"""What a node's agent registered of its cards, and why that is no card for a scheduler.

Source: pkg/scheduler/api/devices/nvidia/vgpu/device_info.go NewGPUDevices, utils.go
decodeNodeDevices.
"""

from __future__ import annotations

from datetime import UTC, datetime

from ....kubernetes.objects import Node
from ....kubernetes.quantity import parse
from ....kubernetes.units import SECOND_US
from ...framework.vote_details import UnreadCards, Unregistered
from .vgpu_request import CORES, MEMORY, NUMBER

REGISTER = "volcano.sh/node-vgpu-register"
HANDSHAKE = "volcano.sh/node-vgpu-handshake"
HANDSHAKE_US = 60 * SECOND_US
UNREGISTERED = "unregistered"
"""What details about nodes without virtual GPUs are kept under."""
_FIELDS, _FIELDS_WITHOUT_MODE = 6, 5


def unregistered(node: Node, now: int, *, handshake: bool, modes: bool) -> Unregistered | None:
    """Return why a scheduler reads no cards of a node; None if it reads some.

    :param now: microseconds since 1970; an agent without an answer for a minute is gone.
    :param handshake: check whether the agent answers; else whether GPUs are allocatable.
    :param modes: agents report the sharing mode of cards.
    """
    annotations = node.annotations
    for name in (REGISTER, HANDSHAKE) if handshake else (REGISTER,):
        if name not in annotations:
            return Unregistered(UnreadCards.NO_ANNOTATION, name)
    allocatable = node.status.allocatable
    for name in () if handshake else (NUMBER, CORES, MEMORY):
        if name not in allocatable or parse(allocatable[name]).value() == 0:
            return Unregistered(UnreadCards.NO_RESOURCE, name)
    text, needs = annotations[REGISTER], _FIELDS if modes else _FIELDS_WITHOUT_MODE
    cards = [card for card in text.split(":") if "," in card]
    for card in cards:
        has = len(card.split(","))
        if has < needs:
            return Unregistered(UnreadCards.TOO_FEW_FIELDS, REGISTER, card, has, needs)
    if not cards or ":" not in text:
        return Unregistered(UnreadCards.NO_CARD, REGISTER, text)
    if handshake and not _answers(annotations[HANDSHAKE], now):
        return Unregistered(UnreadCards.SILENT, HANDSHAKE, annotations[HANDSHAKE])
    return None


def _answers(handshake: str, now: int) -> bool:
    """Return whether a node's agent is alive: it answers the handshake within a minute."""
    if "Requesting" in handshake:
        asked = handshake.partition("_")[2]
        try:
            moment = datetime.strptime(asked, "%Y.%m.%d %H:%M:%S").replace(tzinfo=UTC)
        except ValueError:
            return False
        return now <= int(moment.timestamp()) * SECOND_US + HANDSHAKE_US
    return "Deleted" not in handshake

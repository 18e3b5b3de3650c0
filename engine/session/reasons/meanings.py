"""What a plugin's refusal of a node means: a code and the numbers that were compared.

The text of a refusal is what the scheduler writes. A meaning is kept beside it, for answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


class NodeCode(StrEnum):
    """Why a plugin refuses a node."""

    NUMA_UNREPORTED = "numa-unreported"
    """The node has no Numatopology."""
    CPU_MANAGER = "cpu-manager"
    """The CPU manager policy of the node's kubelet is not ``static``."""
    NUMA_POLICY = "numa-policy"
    """The topology policy of the node is not the pod's: ``has`` and ``wanted``."""
    NUMA_NO_CPU = "numa-no-cpu"
    """The node has no CPU left to assign."""
    NUMA_CONTAINER = "numa-container"
    """The topology policy does not admit a ``container``: its CPUs are not free together."""
    CPU_USE = "cpu-use"
    """More CPU is used on average than ``limit``, in percent."""
    MEMORY_USE = "memory-use"
    """More memory is used on average than ``limit``, in percent."""
    CARDS_FULL = "cards-full"
    """The node's cards do not have room for the virtual GPUs of the pod."""
    ZONE_CLOSED = "zone-closed"
    """The revocable ``zone`` of the node is open in its ``window`` of the day, and not ``now``."""
    ZONE_WITHOUT_WINDOW = "zone-without-window"
    """No argument says when the revocable ``zone`` of the node is open."""
    ZONE_UNREADABLE = "zone-unreadable"
    """The ``window`` of the node's revocable zone cannot be read."""


class Meaning(NamedTuple):
    """A refusal by a code.

    :param by: the plugin. :param data: what was compared, by the names that the code says.
    :param at: by node, what was measured there; in percent.
    """

    code: NodeCode
    by: str
    data: Mapping[str, str | float] = MappingProxyType({})
    at: Mapping[str, float] = MappingProxyType({})

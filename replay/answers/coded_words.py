"""Why plugins refuse nodes, in words: from the codes and numbers of their refusals."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...engine.session.framework.vote_details import RefusingNodes
from ...engine.session.reasons.objections import NodeCode, Objection

Phrases = Mapping[Objection, tuple[str, str]]
"""By what a filter says: what is said of one node, and of several."""


def coded(group: RefusingNodes) -> Phrases:
    """Return what is said of the nodes of a group, where it says what was compared."""
    return {
        objection: _words(objection, group)
        for objection in group.objections
        if objection.code in {*_USES, *_FIXED}
    }


def _words(said: Objection, group: RefusingNodes) -> tuple[str, str]:
    if said.code in _USES:
        return _use(said, group)
    singular, many = _FIXED[said.code]
    data = {name: value or "none" for name, value in said.data.items()}
    by = f" (plugin {said.by})"
    return singular.format(**data) + by, many.format(**data) + by


def _use(said: Objection, group: RefusingNodes) -> tuple[str, str]:
    """Return which use of nodes is above a limit; of a node alone, how much it is."""
    use, limit = _USES[said.code], f"{said.data['limit']:g} %"
    by = f"plugin {said.by} allows (argument thresholds)"
    alone = said.at.get(group.nodes[0]) if len(group.nodes) == 1 else None
    more = f"more {use} than the {limit} that {by}"
    if alone is None:
        return f"uses {more}", f"use {more}"
    return f"uses {alone:g} % {use}, and {limit} is what {by}", f"use {more}"


_USES: Mapping[NodeCode, str] = MappingProxyType(
    {NodeCode.CPU_USE: "CPU", NodeCode.MEMORY_USE: "memory"}
)
_CLOSED_ZONE = (
    "in the revocable zone {zone}, which is open at {window} UTC, and the session runs at {now}"
)
_FIXED: Mapping[NodeCode, tuple[str, str]] = MappingProxyType(
    {
        NodeCode.NUMA_UNREPORTED: (
            "has no Numatopology, so the scheduler does not know its CPUs",
            "have no Numatopology, so the scheduler does not know their CPUs",
        ),
        NodeCode.CPU_MANAGER: (
            "has a kubelet whose CPU manager policy is not static",
            "have kubelets whose CPU manager policy is not static",
        ),
        NodeCode.NUMA_POLICY: (
            "has the topology policy {has}, and the pod wants {wanted}",
            "have the topology policy {has}, and the pod wants {wanted}",
        ),
        NodeCode.NUMA_NO_CPU: (
            "has no CPU left to assign to one pod alone",
            "have no CPU left to assign to one pod alone",
        ),
        NodeCode.NUMA_CONTAINER: (
            "has no CPUs free for container {container} as its topology policy {policy} wants",
            "have no CPUs free for container {container} as their topology policy {policy} wants",
        ),
        NodeCode.ZONE_CLOSED: (f"is {_CLOSED_ZONE}", f"are {_CLOSED_ZONE}"),
        NodeCode.ZONE_WITHOUT_WINDOW: (
            "is in the revocable zone {zone}, which no argument opens (tdm.revocable-zone.{zone})",
            "are in the revocable zone {zone}, which no argument opens (tdm.revocable-zone.{zone})",
        ),
        NodeCode.ZONE_UNREADABLE: (
            "is in a revocable zone whose window {window!r} cannot be read, as 10:00-21:00 can",
            "are in a revocable zone whose window {window!r} cannot be read, as 10:00-21:00 can",
        ),
        NodeCode.CARDS_FULL: (
            "has no cards that take the virtual GPUs of the pod",
            "have no cards that take the virtual GPUs of the pod",
        ),
    }
)
"""What is said of one node, and of several; names in braces are data of the refusal."""

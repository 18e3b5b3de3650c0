"""Codes of the reasons for which filters refuse nodes; the messages differ between releases."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .meanings import Meaning

_LACKS = "Insufficient "
_TAINT = "node(s) had untolerated taint {"
_DEVICES = "node not initialized with device"
OTHER = "other"
"""The code of a message that no filter here gives, as of an extender."""

CODES: Mapping[str, str] = MappingProxyType(
    {
        "node(s) were unschedulable": "cordoned",
        "node(s) had untolerated taint(s)": "untolerated-taint",
        "node(s) didn't match Pod's node affinity/selector": "node-affinity",
        "node(s) didn't match pod affinity rules": "pod-affinity",
        "node(s) didn't match pod anti-affinity rules": "pod-anti-affinity",
        "node(s) didn't satisfy existing pods anti-affinity rules": "anti-affinity-of-others",
        "node(s) didn't match pod topology spread constraints": "topology-spread",
        "node(s) didn't match pod topology spread constraints (missing required label)": (
            "topology-spread-label"
        ),
        "node(s) didn't have free ports for the requested pod ports": "host-ports",
        "node(s) pod number exceeded": "too-many-pods",
        "Insufficient pods": "too-many-pods",
        "node(s) were out of sync": "out-of-sync",
        "node(s) didn't match PersistentVolume's node affinity": "volume-unreachable",
        "node(s) had volume node affinity conflict": "volume-unreachable",
        "node(s) didn't find available persistent volumes to bind": "no-volume",
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": (
            "volume-missing"
        ),
        "node(s) had no available volume zone": "volume-zone",
        "node(s) exceed max volume count": "too-many-volumes",
        "resourceclaim not available on the node": "claim-elsewhere",
        "cannot allocate all claims": "too-few-devices",
        "claim allocation not found for node": "claim-not-allocated",
        "not allow to dispatch to revocable node": "zone-not-revocable",
        "node not satisfy": "node-group",
        "node does not satisfy the node group affinity": "node-group",
        "node group label not found": "node-group-label",
        "node group affinity not specified": "node-group-affinity",
        "plugin equivalence cache predicates failed": "cached",
    }
)
"""By message. What plugins of Volcano refuse with numbers has the codes of :class:`.NodeCode`."""


def code_of(message: str, meanings: Mapping[str, Meaning]) -> str:
    """Return the code of a filter's message.

    Of a resource that nodes lack it is ``insufficient-`` and the name of the resource.

    :param meanings: by message, of plugins that give codes.
    """
    if message in meanings:
        return str(meanings[message].code)
    if message in CODES:
        return CODES[message]
    if message.startswith(_LACKS):
        return f"insufficient-{message.removeprefix(_LACKS)}"
    if message.startswith(_TAINT):
        return CODES["node(s) had untolerated taint(s)"]
    return "no-virtual-gpus" if message.startswith(_DEVICES) else OTHER

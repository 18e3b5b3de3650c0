"""Priority classes, as an API server admits pods that name them.

Source: kubernetes plugin/pkg/admission/priority/admission.go admitPod.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from .api_errors import Forbidden

BUILT_IN_CLASSES: Mapping[str, int] = MappingProxyType(
    {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
)
"""The classes that each API server makes, with their values."""

Document = dict[str, Any]


def with_priority(pod: Document, classes: Iterable[Document], *, all_known: bool) -> Document:
    """Return a new pod with the priority of the class that it names, or of the default one.

    :param all_known: a class that is not among these does not exist.
    :raises Forbidden: its class does not exist.
    """
    spec = pod["spec"]
    if spec.get("priority") is not None:
        return pod
    name = spec.get("priorityClassName") or ""
    found = {
        one["metadata"]["name"]: one.get("value", 0)
        for one in classes
        if (one["metadata"]["name"] == name if name else one.get("globalDefault"))
    }
    if not found and name in BUILT_IN_CLASSES:
        found = {name: BUILT_IN_CLASSES[name]}
    if not found:
        if name and all_known:
            raise Forbidden(f"no PriorityClass with name {name} was found")
        return pod
    named, value = min(found.items(), key=lambda one: (one[1], one[0]))
    return {**pod, "spec": {**spec, "priorityClassName": named, "priority": value}}

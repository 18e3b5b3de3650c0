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
    values = {
        priority_class["metadata"]["name"]: priority_class.get("value", 0)
        for priority_class in classes
        if (
            priority_class["metadata"]["name"] == name
            if name
            else priority_class.get("globalDefault")
        )
    }
    if not values and name in BUILT_IN_CLASSES:
        values = {name: BUILT_IN_CLASSES[name]}
    if not values:
        if name and all_known:
            raise Forbidden(f"no PriorityClass with name {name} was found")
        return pod
    # Of several default classes the one with the least value counts.
    named, value = min(values.items(), key=lambda entry: (entry[1], entry[0]))
    return {**pod, "spec": {**spec, "priorityClassName": named, "priority": value}}

"""What is read and written below an object: its status, its binding, its replicas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .....engine.kubernetes.resources import GroupKind
from .api_resources import READ, ApiResource

SCALED: frozenset[GroupKind] = frozenset(
    {
        ("", "ReplicationController"),
        *(("apps", kind) for kind in ("Deployment", "ReplicaSet", "StatefulSet")),
    }
)
"""Kinds whose replicas are read and written alone."""

_POD: GroupKind = ("", "Pod")
_WRITTEN = ("get", "patch", "update")


class Subresource(NamedTuple):
    """One subresource.

    :param kind: of its body, and ``group_version`` of that; empty if it is the object itself.
    """

    name: str
    kind: str
    verbs: Sequence[str]
    group_version: str = ""

    @property
    def written(self) -> Mapping[str, str]:
        """The group and version of its body, as fields."""
        group, _, version = self.group_version.rpartition("/")
        return {"group": group, "version": version} if group else {}

    def answered(self, kind: Mapping[str, str]) -> Mapping[str, str]:
        """Return the kind of its body.

        :param kind: that of the object.
        """
        if not self.group_version:
            return kind
        group, _, version = self.group_version.rpartition("/")
        return {"group": group, "version": version, "kind": self.kind}


def subresources_of(resource: ApiResource, verbs: Sequence[str]) -> list[Subresource]:
    """Return the subresources of a resource.

    :param verbs: what can be done with every resource.
    """
    if tuple(verbs) == READ:
        return [Subresource("status", resource.kind, ("get",))]
    found = [Subresource("status", resource.kind, _WRITTEN)] if resource.has_status else []
    if resource.pair == _POD:
        found.append(Subresource("binding", "Binding", ("create",), "v1"))
        found.append(Subresource("eviction", "Eviction", ("create",), "policy/v1"))
    if resource.pair in SCALED:
        found.append(Subresource("scale", "Scale", _WRITTEN, "autoscaling/v1"))
    return found

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

    :param full_kind: group, version and kind of its body.
    """

    name: str
    verbs: Sequence[str]
    full_kind: Mapping[str, str]


def _body(name: str, verbs: Sequence[str], group: str, kind: str) -> Subresource:
    return Subresource(name, verbs, {"group": group, "version": "v1", "kind": kind})


def subresources_of(resource: ApiResource, verbs: Sequence[str]) -> list[Subresource]:
    """Return the subresources of a resource.

    :param verbs: what can be done with every resource.
    """
    if tuple(verbs) == READ:
        return [Subresource("status", ("get",), resource.full_kind)]
    found = []
    if resource.has_status:
        found.append(Subresource("status", _WRITTEN, resource.full_kind))
    if resource.pair == _POD:
        found.append(_body("binding", ("create",), "", "Binding"))
        found.append(_body("eviction", ("create",), "policy", "Eviction"))
    if resource.pair in SCALED:
        found.append(_body("scale", _WRITTEN, "autoscaling", "Scale"))
    return found

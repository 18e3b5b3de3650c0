"""What a path of the API names, and what is below an object: its status, binding, replicas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .api_resources import POD, READ, ApiResource, Catalog, kinds_in
from .api_status import StatusError

SCALED = kinds_in(
    {"": ("ReplicationController",), "apps": ("Deployment", "ReplicaSet", "StatefulSet")}
)
"""Kinds whose replicas are read and written alone."""

_WRITTEN = ("get", "patch", "update")


class ApiPath(NamedTuple):
    """What a path names.

    :param name: of one object; empty is all of the resource. :param below: a subresource.
    """

    resource: ApiResource
    namespace: str = ""
    name: str = ""
    below: str = ""


def place_in(catalog: Catalog, path: Sequence[str]) -> ApiPath:
    """Return what a path below a group and version names.

    :raises StatusError: there is no such resource.
    """
    core = path[0] == "api"
    group, version = ("", path[1]) if core else (path[1], path[2])
    rest = list(path[2 if core else 3 :])
    namespace = ""
    # ``namespaces/NAME/status`` is of a namespace; with a resource after the name it is a place.
    if rest[0] == "namespaces" and len(rest) > 2 and catalog.find(group, version, rest[2]):
        namespace, rest = rest[1], rest[2:]
    resource = catalog.find(group, version, rest[0])
    if resource is None or len(rest) > 3 or (namespace and not resource.namespaced):
        raise no_resource()
    name, below = ([*rest[1:], "", ""])[:2]
    if name and resource.namespaced and not namespace:
        raise no_resource()
    return ApiPath(resource, namespace, name, below)


def named_object(place: ApiPath) -> dict[str, Any]:
    """Return an object of which only its name is known: what server-side apply begins with."""
    resource = place.resource
    metadata = {"name": place.name, **({"namespace": place.namespace} if place.namespace else {})}
    return {"apiVersion": resource.group_version, "kind": resource.kind, "metadata": metadata}


def no_resource() -> StatusError:
    """Return the answer for a path that names nothing that is served."""
    return StatusError(404, "the server could not find the requested resource", details={})


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
    below = []
    if resource.has_status:
        below.append(Subresource("status", _WRITTEN, resource.full_kind))
    if resource.pair == POD:
        below.append(_body("binding", ("create",), "", "Binding"))
        below.append(_body("eviction", ("create",), "policy", "Eviction"))
    if resource.pair in SCALED:
        below.append(_body("scale", _WRITTEN, "autoscaling", "Scale"))
    return below

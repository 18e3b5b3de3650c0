"""Discovery: which resources there are, group by group and all at once.

Source: https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from ..wire.api_paths import Subresource, no_resource, subresources_of
from ..wire.api_resources import REVIEWS, ApiResource, Catalog
from ..wire.api_status import JSON
from ..wire.list_options import accepted

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"


def answer(
    request: Request, catalog: Catalog, verbs: Sequence[str], path: Sequence[str]
) -> Response:
    """Answer a request to ``/api``, ``/apis``, or a group or version below.

    :param verbs: what can be done with every resource.
    :raises StatusError: there is no such group or version.
    """
    match tuple(path):
        case ("api" | "apis",) as root:
            accept = request.headers.get("accept", "")
            version = _aggregated(accept)
            if version:
                document = _all(catalog, version, verbs, core=root == ("api",))
                return tagged(request, document, _AGGREGATED.format(version))
            return tagged(request, _plain(catalog, core=root == ("api",)), JSON)
        case ("apis", group) if group in catalog.groups():
            return tagged(request, _group(group, catalog.groups()[group], top=True), JSON)
        case ("api", version) if version in catalog.groups()[""]:
            return tagged(request, _resources(catalog, "", version, verbs), JSON)
        case ("apis", group, version) if version in catalog.groups().get(group, ()):
            return tagged(request, _resources(catalog, group, version, verbs), JSON)
    raise no_resource()


def _aggregated(accept: str) -> str:
    """Return the version of the aggregated form that a client accepts first; empty if none."""
    for media, parameters in accepted(accept):
        version = parameters.get("v", "")
        if parameters.get("g") == "apidiscovery.k8s.io" and version in {"v2", "v2beta1"}:
            return version
        # What follows in the header is wanted less.
        if media == JSON and not parameters:
            break
    return ""


def tagged(request: Request, document: dict[str, Any], media: str) -> Response:
    """Return an answer that clients keep, and ask again whether it still holds."""
    body = msgspec.json.encode(document)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32].upper()}"'
    headers = {"ETag": tag, "Vary": "Accept", "Cache-Control": "public"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, headers={**headers, "Content-Type": media})


def _plain(catalog: Catalog, *, core: bool) -> dict[str, Any]:
    groups = catalog.groups()
    if core:
        return {
            "kind": "APIVersions",
            "versions": groups[""],
            "serverAddressByClientCIDRs": [],
        }
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [_group(name, versions) for name, versions in groups.items() if name],
    }


def _group(name: str, versions: Sequence[str], *, top: bool = False) -> dict[str, Any]:
    named = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    head = {"kind": "APIGroup", "apiVersion": "v1"} if top else {}
    return {**head, "name": name, "versions": named, "preferredVersion": named[0]}


def _offered(
    catalog: Catalog, group: str, version: str, verbs: Sequence[str]
) -> Iterator[tuple[ApiResource, Sequence[str], Sequence[Subresource] | None]]:
    """Yield resources, what can be done with each, and what is below it; None below reviews."""
    for resource in catalog.of(group, version):
        yield resource, verbs, subresources_of(resource, verbs)
    for review in REVIEWS:
        if (review.group, review.version) == (group, version):
            yield review, ("create",), None


def _names(resource: ApiResource) -> dict[str, Any]:
    """Return further names of a resource, if it has any."""
    names = {"shortNames": list(resource.short_names), "categories": list(resource.categories)}
    return {field: value for field, value in names.items() if value}


def _resources(catalog: Catalog, group: str, version: str, verbs: Sequence[str]) -> dict[str, Any]:
    resources: list[dict[str, Any]] = []
    for resource, own_verbs, below in _offered(catalog, group, version, verbs):
        resources.append(
            {
                "name": resource.plural,
                "singularName": resource.singular,
                "namespaced": resource.namespaced,
                "kind": resource.kind,
                "verbs": list(own_verbs),
                **_names(resource),
            }
        )
        for part in below or ():
            kind = part.full_kind
            is_other = kind["group"] and kind != resource.full_kind
            resources.append(
                {
                    "name": f"{resource.plural}/{part.name}",
                    "singularName": "",
                    "namespaced": resource.namespaced,
                    **(kind if is_other else {"kind": kind["kind"]}),
                    "verbs": list(part.verbs),
                }
            )
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": resources,
    }


def _all(catalog: Catalog, form: str, verbs: Sequence[str], *, core: bool) -> dict[str, Any]:
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{form}",
        "metadata": {},
        "items": [
            {
                "metadata": {**({"name": group} if group else {}), "creationTimestamp": None},
                "versions": [
                    {
                        "version": version,
                        "resources": list(_discovered(catalog, group, version, verbs)),
                        "freshness": "Current",
                    }
                    for version in versions
                ],
            }
            for group, versions in catalog.groups().items()
            if (not group) == core
        ],
    }


def _discovered(
    catalog: Catalog, group: str, version: str, verbs: Sequence[str]
) -> Iterator[dict[str, Any]]:
    for resource, own_verbs, below in _offered(catalog, group, version, verbs):
        subresources = [
            {"subresource": part.name, "responseKind": part.full_kind, "verbs": list(part.verbs)}
            for part in below or ()
        ]
        yield {
            "resource": resource.plural,
            "responseKind": resource.full_kind,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "singularResource": resource.singular,
            "verbs": list(own_verbs),
            **_names(resource),
            **({} if below is None else {"subresources": subresources}),
        }

"""The columns of kinds that are looked at less often: leases, networks, quotas, roles, webhooks.

Source: k8s.io/kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .....engine.kubernetes.resources import GroupKind
from .cells import selector_text
from .columns import (
    AGE_COLUMN,
    NAME_COLUMN,
    NONE,
    TableColumn,
    TableObject,
    count_column,
    field_column,
    wide_column,
)

_MOST = 3
"""Addresses and ports that a cell names."""


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list; what is none is left out."""
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))


def _first(found: Sequence[str], empty: str) -> str:
    """Return the first few texts, and how many more there are."""
    text = ",".join(found[:_MOST])
    more = len(found) - _MOST
    return (f"{text} + {more} more..." if more > 0 else text) or empty


def _endpoints(row: TableObject) -> str:
    found = []
    for subset in _objects(row.at("subsets")):
        addresses = [str(one.get("ip", "")) for one in _objects(subset.get("addresses"))]
        ports = [one.get("port") for one in _objects(subset.get("ports"))]
        found += [_with_port(one, port) for port in ports or [None] for one in addresses]
    return _first(found, NONE)


def _with_port(address: str, port: object) -> str:
    if port is None:
        return address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _slice_ports(row: TableObject) -> str:
    ports = _objects(row.at("ports"))
    return _first([str(one.get("port") or one.get("name") or "*") for one in ports], "<unset>")


def _slice_endpoints(row: TableObject) -> str:
    endpoints = _objects(row.at("endpoints"))
    found = [str(one) for endpoint in endpoints for one in endpoint.get("addresses") or ()]
    return _first(found, "<unset>")


def _quota(*, limits: bool) -> TableColumn:
    def cell(row: TableObject) -> str:
        hard, used = row.at("status", "hard") or {}, row.at("status", "used") or {}
        names = [name for name in sorted(hard) if name.startswith("limits.") is limits]
        return ", ".join(f"{name}: {used.get(name, 0)}/{hard[name]}" for name in names)

    return TableColumn("Limit" if limits else "Request", cell)


def _controller(row: TableObject) -> str:
    for one in _objects(row.at("metadata", "ownerReferences")):
        if one.get("controller"):
            group = str(one.get("apiVersion", "")).rpartition("/")[0]
            kind = str(one.get("kind", "")).lower()
            return f"{f'{kind}.{group}' if group else kind}/{one.get('name', '')}"
    return NONE


def _role(row: TableObject) -> str:
    return f"{row.at('roleRef', 'kind') or ''}/{row.at('roleRef', 'name') or ''}"


def _subjects(name: str, kind: str) -> TableColumn:
    def cell(row: TableObject) -> str:
        found = (one for one in _objects(row.at("subjects")) if one.get("kind") == kind)
        if kind == "ServiceAccount":
            return ", ".join(f"{one.get('namespace', '')}/{one.get('name', '')}" for one in found)
        return ", ".join(str(one.get("name", "")) for one in found)

    return wide_column(name, cell)


def _number(name: str, *path: str) -> TableColumn:
    return TableColumn(name, lambda row: len(row.at(*path) or ()), "integer")


_CREATED_AT = field_column("Created At", "metadata", "creationTimestamp", kind="date")
_ROLE = (NAME_COLUMN, _CREATED_AT)
_BINDING = (
    NAME_COLUMN,
    TableColumn("Role", _role),
    AGE_COLUMN,
    _subjects("Users", "User"),
    _subjects("Groups", "Group"),
    _subjects("ServiceAccounts", "ServiceAccount"),
)
_WEBHOOKS = (NAME_COLUMN, _number("Webhooks", "webhooks"), AGE_COLUMN)

OTHERS: Mapping[GroupKind, Sequence[TableColumn]] = MappingProxyType(
    {
        ("", "Endpoints"): (NAME_COLUMN, TableColumn("Endpoints", _endpoints), AGE_COLUMN),
        ("", "ResourceQuota"): (NAME_COLUMN, _quota(limits=False), _quota(limits=True), AGE_COLUMN),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _WEBHOOKS,
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _WEBHOOKS,
        ("apps", "ControllerRevision"): (
            NAME_COLUMN,
            TableColumn("Controller", _controller),
            count_column("Revision", "revision"),
            AGE_COLUMN,
        ),
        ("coordination.k8s.io", "Lease"): (
            NAME_COLUMN,
            field_column("Holder", "spec", "holderIdentity"),
            AGE_COLUMN,
        ),
        ("discovery.k8s.io", "EndpointSlice"): (
            NAME_COLUMN,
            field_column("AddressType", "addressType"),
            TableColumn("Ports", _slice_ports),
            TableColumn("Endpoints", _slice_endpoints),
            AGE_COLUMN,
        ),
        ("networking.k8s.io", "NetworkPolicy"): (
            NAME_COLUMN,
            TableColumn("Pod-Selector", lambda row: selector_text(row.at("spec", "podSelector"))),
            AGE_COLUMN,
        ),
        ("rbac.authorization.k8s.io", "ClusterRole"): _ROLE,
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _BINDING,
        ("rbac.authorization.k8s.io", "Role"): _ROLE,
        ("rbac.authorization.k8s.io", "RoleBinding"): _BINDING,
        ("storage.k8s.io", "CSINode"): (
            NAME_COLUMN,
            _number("Drivers", "spec", "drivers"),
            AGE_COLUMN,
        ),
    }
)
"""The columns of these kinds."""

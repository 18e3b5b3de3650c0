"""The columns of kinds that are looked at less often: networks, quotas, roles, storage, devices.

Source: k8s.io/kubernetes pkg/printers/internalversion/printers.go; a server always prints wide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .....engine.kubernetes.resources import GroupKind
from ..wire.loose_fields import field_of, objects
from .cells import selector_text
from .columns import (
    AGE_COLUMN,
    CREATED_COLUMN,
    NONE,
    TableColumn,
    TableObject,
    count_column,
    field_column,
    flag_column,
    length_column,
    text_column,
    wide_column,
)

_MOST = 3
"""Addresses, ports and hosts that a cell names."""

_MOST_METRICS = 2
_NAMED = ("kind", "name")
_UNSET, _UNKNOWN = "<unset>", "<unknown>"


def _first(texts: Sequence[str], empty: str, most: int = _MOST, comma: str = ",") -> str:
    """Return the first few texts, and how many more there are."""
    text, more = comma.join(texts[:most]), len(texts) - most
    return (f"{text} + {more} more..." if more > 0 else text) or empty


def _endpoints(row: TableObject) -> str:
    endpoints = []
    for subset in objects(row.at("subsets")):
        addresses = [str(address.get("ip", "")) for address in objects(subset.get("addresses"))]
        ports = [port.get("port") for port in objects(subset.get("ports"))]
        endpoints += [
            _with_port(address, port) for port in ports or [None] for address in addresses
        ]
    return _first(endpoints, NONE)


def _with_port(address: str, port: object) -> str:
    if port is None:
        return address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _slice_ports(row: TableObject) -> str:
    ports = objects(row.at("ports"))
    return _first([str(port.get("port") or port.get("name") or "*") for port in ports], _UNSET)


def _slice_endpoints(row: TableObject) -> str:
    endpoints = objects(row.at("endpoints"))
    addresses = [
        str(address) for endpoint in endpoints for address in endpoint.get("addresses") or ()
    ]
    return _first(addresses, _UNSET)


def _quota(*, limits: bool) -> TableColumn:
    def cell(row: TableObject) -> str:
        hard, used = row.at("status", "hard") or {}, row.at("status", "used") or {}
        names = [name for name in sorted(hard) if name.startswith("limits.") is limits]
        return ", ".join(f"{name}: {used.get(name, 0)}/{hard[name]}" for name in names)

    return TableColumn("Limit" if limits else "Request", cell)


def _controller(row: TableObject) -> str:
    for owner in objects(row.at("metadata", "ownerReferences")):
        if owner.get("controller"):
            group = str(owner.get("apiVersion", "")).rpartition("/")[0]
            kind = str(owner.get("kind", "")).lower()
            return f"{f'{kind}.{group}' if group else kind}/{owner.get('name', '')}"
    return NONE


def _subjects(name: str, kind: str) -> TableColumn:
    def cell(row: TableObject) -> str:
        subjects = (
            subject for subject in objects(row.at("subjects")) if subject.get("kind") == kind
        )
        if kind == "ServiceAccount":
            return ", ".join(
                f"{subject.get('namespace', '')}/{subject.get('name', '')}" for subject in subjects
            )
        return ", ".join(str(subject.get("name", "")) for subject in subjects)

    return wide_column(name, cell)


def _hosts(row: TableObject) -> str:
    rules = objects(row.at("spec", "rules"))
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == _MOST:
            return f"{','.join(hosts)} + {len(rules) - _MOST} more..."
        hosts += [str(rule["host"])] if rule.get("host") else []
    return ",".join(hosts) or "*"


def _addresses(row: TableObject) -> str:
    given = objects(row.at("status", "loadBalancer", "ingress"))
    return ",".join(
        sorted(
            {str(ingress.get("ip") or ingress.get("hostname") or "") for ingress in given} - {""}
        )
    )


def _parameters(row: TableObject) -> str:
    given = row.at("spec", "parameters")
    if not isinstance(given, dict):
        return NONE
    group = f".{given['apiGroup']}" if given.get("apiGroup") is not None else ""
    return f"{given.get('kind', '')}{group}/{given.get('name', '')}"


def _targets(row: TableObject) -> str:
    """Return each metric as its value now and its target."""
    metrics = objects(row.at("spec", "metrics"))
    now = objects(row.at("status", "currentMetrics"))
    percent = row.at("spec", "targetCPUUtilizationPercentage")
    if percent is not None:  # autoscaling/v1 has this one metric.
        used = row.at("status", "currentCPUUtilizationPercentage")
        return f"cpu: {_UNKNOWN if used is None else f'{used}%'}/{percent}%"
    texts = [
        _metric(metric, now[place] if place < len(now) else {})
        for place, metric in enumerate(metrics)
    ]
    return _first(texts, NONE, _MOST_METRICS, ", ")


def _metric(metric: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    kind = str(metric.get("type", ""))
    field = kind[:1].lower() + kind[1:]
    target, now = field_of(metric, field, "target"), field_of(status, field, "current")
    average = field_of(target, "averageValue")
    averaged = f"{_or_unknown(field_of(now, 'averageValue'))}/{average}"
    match kind:
        case "Resource" | "ContainerResource":
            name = field_of(metric, field, "name")
            if average is not None:
                return f"{name}: {averaged}"
            used = field_of(now, "averageUtilization")
            wanted = field_of(target, "averageUtilization")
            aim = "<auto>" if wanted is None else f"{wanted}%"
            return f"{name}: {_UNKNOWN if used is None else f'{used}%'}/{aim}"
        case "External" | "Object":
            if average is not None:
                return f"{averaged} (avg)"
            return f"{_or_unknown(field_of(now, 'value'))}/{field_of(target, 'value')}"
        case "Pods":
            return averaged
    return "<unknown type>"


def _or_unknown(value: Any) -> Any:
    return _UNKNOWN if value is None else value


def _audiences(row: TableObject) -> str:
    given = row.at("spec", "tokenRequests")
    if given is None:
        return _UNSET
    return ",".join(str(request.get("audience", "")) for request in objects(given))


def _lifecycles(row: TableObject) -> str:
    return ",".join(map(str, row.at("spec", "volumeLifecycleModes") or ())) or NONE


def _claim_state(row: TableObject) -> str:
    """Return what became of a claim for devices."""
    deleted = row.at("metadata", "deletionTimestamp") is not None
    states = ["deleted"] if deleted else []
    if row.at("status", "allocation") is None:
        states += [] if deleted else ["pending"]
    else:
        states += ["allocated", *(["reserved"] if row.at("status", "reservedFor") else [])]
    return ",".join(states)


_BINDING = (
    TableColumn(
        "Role", lambda row: "/".join(str(row.at("roleRef", part) or "") for part in _NAMED)
    ),
    AGE_COLUMN,
    _subjects("Users", "User"),
    _subjects("Groups", "Group"),
    _subjects("ServiceAccounts", "ServiceAccount"),
)
_WEBHOOKS = (length_column("Webhooks", "webhooks"), AGE_COLUMN)

OTHERS: Mapping[GroupKind, Sequence[TableColumn]] = MappingProxyType(
    {
        ("", "Endpoints"): (TableColumn("Endpoints", _endpoints), AGE_COLUMN),
        ("", "ResourceQuota"): (_quota(limits=False), _quota(limits=True), AGE_COLUMN),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _WEBHOOKS,
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _WEBHOOKS,
        ("apps", "ControllerRevision"): (
            TableColumn("Controller", _controller),
            count_column("Revision", "revision"),
            AGE_COLUMN,
        ),
        ("coordination.k8s.io", "Lease"): (
            field_column("Holder", "spec.holderIdentity"),
            AGE_COLUMN,
        ),
        ("discovery.k8s.io", "EndpointSlice"): (
            field_column("AddressType", "addressType"),
            TableColumn("Ports", _slice_ports),
            TableColumn("Endpoints", _slice_endpoints),
            AGE_COLUMN,
        ),
        ("networking.k8s.io", "NetworkPolicy"): (
            TableColumn("Pod-Selector", lambda row: selector_text(row.at("spec", "podSelector"))),
            AGE_COLUMN,
        ),
        ("rbac.authorization.k8s.io", "ClusterRole"): (CREATED_COLUMN,),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _BINDING,
        ("rbac.authorization.k8s.io", "Role"): (CREATED_COLUMN,),
        ("rbac.authorization.k8s.io", "RoleBinding"): _BINDING,
        ("storage.k8s.io", "CSINode"): (length_column("Drivers", "spec.drivers"), AGE_COLUMN),
        ("autoscaling", "HorizontalPodAutoscaler"): (
            TableColumn(
                "Reference",
                lambda row: "/".join(
                    str(row.at("spec", "scaleTargetRef", part)) for part in _NAMED
                ),
            ),
            TableColumn("Targets", _targets),
            text_column("MinPods", "spec.minReplicas", default=_UNSET),
            count_column("MaxPods", "spec.maxReplicas")._replace(type="string"),
            count_column("Replicas", "status.currentReplicas")._replace(type="string"),
            AGE_COLUMN,
        ),
        ("networking.k8s.io", "Ingress"): (
            field_column("Class", "spec.ingressClassName", default=NONE),
            TableColumn("Hosts", _hosts),
            TableColumn("Address", _addresses),
            TableColumn("Ports", lambda row: "80, 443" if row.at("spec", "tls") else "80"),
            AGE_COLUMN,
        ),
        ("networking.k8s.io", "IngressClass"): (
            field_column("Controller", "spec.controller"),
            TableColumn("Parameters", _parameters),
            AGE_COLUMN,
        ),
        ("node.k8s.io", "RuntimeClass"): (field_column("Handler", "handler"), AGE_COLUMN),
        ("resource.k8s.io", "ResourceClaim"): (TableColumn("State", _claim_state), AGE_COLUMN),
        ("resource.k8s.io", "ResourceSlice"): (
            field_column("Node", "spec.nodeName"),
            field_column("Driver", "spec.driver"),
            field_column("Pool", "spec.pool.name"),
            AGE_COLUMN,
        ),
        ("storage.k8s.io", "CSIDriver"): (
            flag_column("AttachRequired", "spec.attachRequired", default=True),
            flag_column("PodInfoOnMount", "spec.podInfoOnMount"),
            flag_column("StorageCapacity", "spec.storageCapacity"),
            TableColumn("TokenRequests", _audiences),
            flag_column("RequiresRepublish", "spec.requiresRepublish"),
            TableColumn("Modes", _lifecycles),
            AGE_COLUMN,
        ),
        ("storage.k8s.io", "CSIStorageCapacity"): (
            field_column("StorageClassName", "storageClassName"),
            field_column("Capacity", "capacity", default=_UNSET),
        ),
        ("storage.k8s.io", "VolumeAttachment"): (
            field_column("Attacher", "spec.attacher")._replace(format="name"),
            field_column("PV", "spec.source.persistentVolumeName"),
            field_column("Node", "spec.nodeName"),
            flag_column("Attached", "status.attached"),
            AGE_COLUMN,
        ),
        ("storage.k8s.io", "VolumeAttributesClass"): (
            field_column("DriverName", "driverName"),
            AGE_COLUMN,
        ),
    }
)
"""The columns of these kinds after the name. Classes of devices and templates of claims have none
but the age."""

"""The columns of kinds for traffic, autoscaling, storage drivers and devices.

Source: k8s.io/kubernetes pkg/printers/internalversion/printers.go; a server always prints wide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .....engine.kubernetes.resources import GroupKind
from .columns import (
    AGE_COLUMN,
    NAME_COLUMN,
    NONE,
    TableColumn,
    TableObject,
    count_column,
    field_column,
)

_MOST_HOSTS, _MOST_METRICS = 3, 2
_UNSET, _UNKNOWN = "<unset>", "<unknown>"


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list; what is none is left out."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _at(value: Any, *fields: str) -> Any:
    """Return a field of a value, or None."""
    for field in fields:
        value = value.get(field) if isinstance(value, dict) else None
    return value


def _hosts(row: TableObject) -> str:
    rules = _objects(row.at("spec", "rules"))
    found: list[str] = []
    for one in rules:
        if len(found) == _MOST_HOSTS:
            return f"{','.join(found)} + {len(rules) - _MOST_HOSTS} more..."
        found += [str(one["host"])] if one.get("host") else []
    return ",".join(found) or "*"


def _addresses(row: TableObject) -> str:
    given = _objects(row.at("status", "loadBalancer", "ingress"))
    return ",".join(
        sorted({str(one.get("ip") or one.get("hostname") or "") for one in given} - {""})
    )


def _open_ports(row: TableObject) -> str:
    return "80, 443" if row.at("spec", "tls") else "80"


def _parameters(row: TableObject) -> str:
    given = row.at("spec", "parameters")
    if not isinstance(given, dict):
        return NONE
    group = f".{given['apiGroup']}" if given.get("apiGroup") is not None else ""
    return f"{given.get('kind', '')}{group}/{given.get('name', '')}"


def _scaled(row: TableObject) -> str:
    return f"{row.at('spec', 'scaleTargetRef', 'kind')}/{row.at('spec', 'scaleTargetRef', 'name')}"


def _targets(row: TableObject) -> str:
    """Return each metric as its value now and its target."""
    metrics = _objects(row.at("spec", "metrics"))
    now = _objects(row.at("status", "currentMetrics"))
    percent = row.at("spec", "targetCPUUtilizationPercentage")
    if percent is not None:  # autoscaling/v1 has this one metric.
        used = row.at("status", "currentCPUUtilizationPercentage")
        return f"cpu: {_UNKNOWN if used is None else f'{used}%'}/{percent}%"
    texts = [
        _metric(one, now[place] if place < len(now) else {}) for place, one in enumerate(metrics)
    ]
    more = len(texts) - _MOST_METRICS
    shown = ", ".join(texts[:_MOST_METRICS])
    return (f"{shown} + {more} more..." if more > 0 else shown) or NONE


def _metric(metric: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    kind = str(metric.get("type", ""))
    field = kind[:1].lower() + kind[1:]
    target, now = _at(metric, field, "target"), _at(status, field, "current")
    average = _at(target, "averageValue")
    averaged = f"{_or_unknown(_at(now, 'averageValue'))}/{average}"
    match kind:
        case "Resource" | "ContainerResource":
            name = _at(metric, field, "name")
            if average is not None:
                return f"{name}: {averaged}"
            used, wanted = _at(now, "averageUtilization"), _at(target, "averageUtilization")
            aim = "<auto>" if wanted is None else f"{wanted}%"
            return f"{name}: {_UNKNOWN if used is None else f'{used}%'}/{aim}"
        case "External" | "Object":
            if average is not None:
                return f"{averaged} (avg)"
            return f"{_or_unknown(_at(now, 'value'))}/{_at(target, 'value')}"
        case "Pods":
            return averaged
    return "<unknown type>"


def _or_unknown(value: Any) -> Any:
    return _UNKNOWN if value is None else value


def _flag(name: str, *path: str, default: bool = False) -> TableColumn:
    """Return a column that shows whether a field is true."""

    def cell(row: TableObject) -> bool:
        value = row.at(*path)
        return default if value is None else bool(value)

    return TableColumn(name, cell, "boolean")


def _audiences(row: TableObject) -> str:
    given = row.at("spec", "tokenRequests")
    if given is None:
        return _UNSET
    return ",".join(str(one.get("audience", "")) for one in _objects(given))


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


MORE: Mapping[GroupKind, Sequence[TableColumn]] = MappingProxyType(
    {
        ("autoscaling", "HorizontalPodAutoscaler"): (
            NAME_COLUMN,
            TableColumn("Reference", _scaled),
            TableColumn("Targets", _targets),
            TableColumn("MinPods", lambda row: _text(row.at("spec", "minReplicas"))),
            count_column("MaxPods", "spec", "maxReplicas")._replace(type="string"),
            count_column("Replicas", "status", "currentReplicas")._replace(type="string"),
            AGE_COLUMN,
        ),
        ("networking.k8s.io", "Ingress"): (
            NAME_COLUMN,
            field_column("Class", "spec", "ingressClassName", default=NONE),
            TableColumn("Hosts", _hosts),
            TableColumn("Address", _addresses),
            TableColumn("Ports", _open_ports),
            AGE_COLUMN,
        ),
        ("networking.k8s.io", "IngressClass"): (
            NAME_COLUMN,
            field_column("Controller", "spec", "controller"),
            TableColumn("Parameters", _parameters),
            AGE_COLUMN,
        ),
        ("node.k8s.io", "RuntimeClass"): (
            NAME_COLUMN,
            field_column("Handler", "handler"),
            AGE_COLUMN,
        ),
        ("resource.k8s.io", "ResourceClaim"): (
            NAME_COLUMN,
            TableColumn("State", _claim_state),
            AGE_COLUMN,
        ),
        ("resource.k8s.io", "ResourceSlice"): (
            NAME_COLUMN,
            field_column("Node", "spec", "nodeName"),
            field_column("Driver", "spec", "driver"),
            field_column("Pool", "spec", "pool", "name"),
            AGE_COLUMN,
        ),
        ("storage.k8s.io", "CSIDriver"): (
            NAME_COLUMN,
            _flag("AttachRequired", "spec", "attachRequired", default=True),
            _flag("PodInfoOnMount", "spec", "podInfoOnMount"),
            _flag("StorageCapacity", "spec", "storageCapacity"),
            TableColumn("TokenRequests", _audiences),
            _flag("RequiresRepublish", "spec", "requiresRepublish"),
            TableColumn("Modes", _lifecycles),
            AGE_COLUMN,
        ),
        ("storage.k8s.io", "CSIStorageCapacity"): (
            NAME_COLUMN,
            field_column("StorageClassName", "storageClassName"),
            field_column("Capacity", "capacity", default=_UNSET),
        ),
        ("storage.k8s.io", "VolumeAttachment"): (
            NAME_COLUMN,
            field_column("Attacher", "spec", "attacher")._replace(format="name"),
            field_column("PV", "spec", "source", "persistentVolumeName"),
            field_column("Node", "spec", "nodeName"),
            _flag("Attached", "status", "attached"),
            AGE_COLUMN,
        ),
        ("storage.k8s.io", "VolumeAttributesClass"): (
            NAME_COLUMN,
            field_column("DriverName", "driverName"),
            AGE_COLUMN,
        ),
    }
)
"""The columns of these kinds. Classes of devices and templates of claims show name and age."""


def _text(value: Any) -> str:
    return _UNSET if value is None else str(value)

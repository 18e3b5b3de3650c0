"""Specifications of pods at random; see :mod:`scenarios`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Document = dict[str, Any]
TOPOLOGY_KEYS = ("zone", "kubernetes.io/hostname", "nowhere")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod_spec(author: Any) -> Document:
    """Return what a pod asks for; ``author`` is who writes the scenario."""
    odd = author.often(author.oddness)
    spec: Document = {
        "schedulerName": author.one("", "other") if author.often(0.06) else "volcano",
        "containers": [] if odd else [_container(author) for _ in range(author.one(1, 1, 2))],
    }
    for field, (share, write) in FIELDS.items():
        if author.often(share):
            spec[field] = write(author)
    return spec


def _container(author: Any) -> Document:
    container: Document = {"name": "main", "image": author.one("busybox:1", "busybox", "")}
    if author.often(0.9):
        share = author.one(0.0, 0.0, 0.08)
        requests = author.amounts(*author.some(("cpu", "memory"), 0.9), more=share)
        container["resources"] = {"requests": requests, "limits": dict(requests)}
    if author.often(0.1):
        protocol = author.one("TCP", "UDP", "")
        port = {"hostPort": author.one(0, 80, 81), "containerPort": 80, "protocol": protocol}
        container["ports"] = [{**port, "hostIP": author.one("", "10.0.0.1", "0.0.0.0")}]
    return container


def _affinity(author: Any) -> Document:
    affinity: Document = {}
    if author.often(0.4):
        affinity["nodeAffinity"] = author.one(
            {REQUIRED: {"nodeSelectorTerms": [_node_term(author)]}},
            {REQUIRED: {"nodeSelectorTerms": []}},
            {REQUIRED: {"nodeSelectorTerms": [{"matchFields": [_field(author)]}]}},
            {PREFERRED: [{"weight": author.number(1, 100), "preference": _node_term(author)}]},
        )
    for kind in author.some(("podAffinity", "podAntiAffinity"), 0.5):
        term = _pod_term(author)
        affinity[kind] = author.one(
            {REQUIRED: [term]},
            {PREFERRED: [{"weight": author.number(1, 100), "podAffinityTerm": term}]},
        )
    return affinity


def _node_term(author: Any) -> Document:
    return {"matchExpressions": [_requirement(author) for _ in range(author.one(0, 1, 1, 2))]}


def _field(author: Any) -> Document:
    values = [author.one(*author.nodes, "lost")]
    return {"key": "metadata.name", "operator": author.one("In", "NotIn"), "values": values}


def _requirement(author: Any) -> Document:
    operator = author.one("In", "NotIn", "Exists", "DoesNotExist", "In", "Gt", "Lt")
    if author.often(author.oddness):
        operator = "Odd"
    values = [] if "Exist" in operator else author.one(["z1"], ["z1", "z2"], ["7"])
    if operator in ("Gt", "Lt") and not author.often(author.oddness):
        values = ["5"]
    return {"key": author.one("zone", "app", "nowhere"), "operator": operator, "values": values}


def _selector(author: Any) -> Document | None:
    expression = {"key": "app", "operator": author.one("In", "NotIn"), "values": ["x"]}
    selectors = (None, {}, {"matchLabels": {"app": "x"}}, {"matchExpressions": [expression]})
    chosen: Document | None = author.one(*selectors)
    return chosen


def _pod_term(author: Any) -> Document:
    term: Document = {"topologyKey": author.one(*TOPOLOGY_KEYS)}
    selector = _selector(author)
    if selector is not None:
        term["labelSelector"] = selector
    if author.often(0.2):
        term["namespaces"] = [author.one("default", "other")]
    if author.often(0.2):
        term["namespaceSelector"] = {}
    if author.often(0.1):
        term["matchLabelKeys"] = ["app"]
    return term


def _toleration(author: Any) -> Document:
    toleration = {"key": author.one("t1", ""), "operator": author.one("Exists", "Equal", "")}
    return {**toleration, "value": author.one("v", ""), "effect": author.one("NoSchedule", "")}


def _spread(author: Any) -> Document:
    constraint: Document = {
        "maxSkew": author.number(1, 2),
        "topologyKey": author.one(*TOPOLOGY_KEYS),
        "whenUnsatisfiable": author.one("DoNotSchedule", "ScheduleAnyway"),
    }
    selector = _selector(author)
    if selector is not None:
        constraint["labelSelector"] = selector
    if author.often(0.2):
        constraint["minDomains"] = author.number(1, 3)
    if author.often(0.2):
        constraint["nodeTaintsPolicy"] = author.one("Honor", "Ignore")
    if author.often(0.2):
        constraint["nodeAffinityPolicy"] = author.one("Honor", "Ignore")
    if author.often(0.1):
        constraint["matchLabelKeys"] = ["app"]
    return constraint


def _volume(author: Any) -> Document:
    volume: Document = author.one(
        {"persistentVolumeClaim": {"claimName": author.one("claim", "nowhere")}},
        {"ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}},
        {"csi": {"driver": "csi.example.com"}},
        {"gcePersistentDisk": {"pdName": "disk"}},
        {"rbd": {"monitors": ["m"], "image": "i", "pool": "p"}},
        {"iscsi": {"iqn": "i"}},
        {"awsElasticBlockStore": {"volumeID": "v"}},
        {"emptyDir": {}},
    )
    return {"name": "data", **volume}


def _init_container(author: Any) -> Document:
    restarts = {"restartPolicy": "Always"} if author.often(0.5) else {}
    return {**_container(author), **restarts}


FIELDS: Mapping[str, tuple[float, Callable[[Any], Any]]] = MappingProxyType(
    {
        "initContainers": (0.1, lambda author: [_init_container(author)]),
        "overhead": (0.05, lambda author: author.amounts("cpu", more=0.0)),
        "priority": (0.3, lambda author: author.number(-10, 1000)),
        "preemptionPolicy": (0.05, lambda author: author.one("Never", "PreemptLowerPriority")),
        "priorityClassName": (0.05, lambda author: author.one("system-node-critical", "high")),
        "nodeSelector": (0.08, lambda author: {"zone": author.one("z1", "z2", "nowhere")}),
        "affinity": (0.2, _affinity),
        "tolerations": (0.15, lambda author: [_toleration(author)]),
        "topologySpreadConstraints": (
            0.12,
            lambda author: [_spread(author) for _ in range(author.one(1, 2))],
        ),
        "volumes": (0.1, lambda author: [_volume(author)]),
        "schedulingGates": (0.05, lambda _: [{"name": "example.com/wait"}]),
    }
)
"""How often a pod has a field, and what is in it."""

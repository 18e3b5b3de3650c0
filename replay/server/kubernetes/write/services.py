"""What an API server fills in of a Service: its type, its address, and the ports of nodes.

Addresses are the lowest free ones of the usual range, so that a branch is the same in every run; a
real server picks at random.

Source: k8s.io/kubernetes pkg/registry/core/service/storage/alloc.go, pkg/apis/core/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from ipaddress import IPv4Network
from itertools import count
from typing import Any

from ..wire.api_status import invalid
from ..wire.loose_fields import objects
from .strategic import Document

_RANGE, _RESERVED = IPv4Network("10.96.0.0/12"), 10
_NODE_PORTS = range(30_000, 32_768)
_EXTERNAL, _HEADLESS = "ExternalName", "None"
_ALLOCATED = ("clusterIP", "clusterIPs")


def filled(
    service: Document, others: Iterable[Mapping[str, Any]], held: Document | None
) -> Document:
    """Return a Service as a server stores it.

    :param others: the Services that there are. :param held: the version before; None if it is new.
    """
    given = service.get("spec", {})
    if not isinstance(given, dict):
        return service
    spec: Document = {**given}
    spec.setdefault("type", "ClusterIP")
    if spec["type"] == _EXTERNAL or not isinstance(spec.get("ports", []), list):
        return {**service, "spec": spec}
    before = {} if held is None else _spec_of(held)
    for field in _ALLOCATED:
        if field in before and not spec.get(field):
            spec[field] = before[field]
    specs = [_spec_of(one) for one in others]
    spec.setdefault("sessionAffinity", "None")
    if not spec.get("clusterIP"):
        spec["clusterIP"] = _free_address({str(one.get("clusterIP")) for one in specs})
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    if spec["clusterIP"] != _HEADLESS:
        spec.setdefault("internalTrafficPolicy", "Cluster")
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    if "ports" in spec:
        taken = {_node_port(port) for one in (*specs, spec) for port in objects(one.get("ports"))}
        free = (number for number in _NODE_PORTS if number not in taken)
        held_ports = {
            _name(port): _node_port(port) for port in reversed(objects(before.get("ports")))
        }
        spec["ports"] = [_port(one, held_ports, spec["type"], free) for one in spec["ports"]]
    return {**service, "spec": spec}


def _spec_of(service: Mapping[str, Any]) -> Mapping[str, Any]:
    found = service.get("spec")
    return found if isinstance(found, dict) else {}


def _free_address(taken: AbstractSet[str]) -> str:
    begin = _RANGE.network_address + _RESERVED
    return next(str(begin + n) for n in count() if str(begin + n) not in taken)


def _node_port(port: Mapping[str, Any]) -> int:
    """Return the port of nodes of a port; 0 if it has none."""
    found = port.get("nodePort")
    return found if isinstance(found, int) else 0


def _name(port: Mapping[str, Any]) -> str:
    """Return what a port of a Service is known by: its number and its protocol."""
    return f"{port.get('port')}/{port.get('protocol')}"


def _port(port: Any, before: Mapping[str, int], kind: Any, free: Iterator[int]) -> Any:
    """Return a port with its protocol, its target, and the port of nodes that its type needs.

    :param before: the ports of nodes that the Service has. :param free: those that none has.
    :raises StatusError: all are taken.
    """
    if not isinstance(port, dict):
        return port
    made = {"protocol": "TCP", **port}
    made.setdefault("targetPort", made.get("port"))
    if kind in ("NodePort", "LoadBalancer") and not made.get("nodePort"):
        found = before.get(_name(made)) or next(free, None)
        if found is None:
            raise invalid("spec.ports: Internal error: all ports of nodes are taken")
        made["nodePort"] = found
    return made

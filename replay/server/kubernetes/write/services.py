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
    # A Service keeps its addresses if an update does not name them.
    for field in _ALLOCATED:
        if field in before and not spec.get(field):
            spec[field] = before[field]
    specs = [_spec_of(port) for port in others]
    spec.setdefault("sessionAffinity", "None")
    if not spec.get("clusterIP"):
        spec["clusterIP"] = _free_address({str(port.get("clusterIP")) for port in specs})
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    if spec["clusterIP"] != _HEADLESS:
        spec.setdefault("internalTrafficPolicy", "Cluster")
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    if "ports" in spec:
        taken = {_node_port(port) for port in (*specs, spec) for port in objects(port.get("ports"))}
        free = (number for number in _NODE_PORTS if number not in taken)
        # Of ports that are known by the same, the first one counts.
        held_ports = {
            _name(port): _node_port(port) for port in reversed(objects(before.get("ports")))
        }
        spec["ports"] = [_port(port, held_ports, spec["type"], free) for port in spec["ports"]]
    return {**service, "spec": spec}


def _spec_of(service: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = service.get("spec")
    return spec if isinstance(spec, dict) else {}


def _free_address(taken: AbstractSet[str]) -> str:
    begin = _RANGE.network_address + _RESERVED
    return next(str(begin + n) for n in count() if str(begin + n) not in taken)


def _node_port(port: Mapping[str, Any]) -> int:
    """Return the port of nodes of a port; 0 if it has none."""
    number = port.get("nodePort")
    return number if isinstance(number, int) else 0


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
    filled_port = {"protocol": "TCP", **port}
    filled_port.setdefault("targetPort", filled_port.get("port"))
    if kind in ("NodePort", "LoadBalancer") and not filled_port.get("nodePort"):
        node_port = before.get(_name(filled_port)) or next(free, None)
        if node_port is None:
            raise invalid("spec.ports: Internal error: all ports of nodes are taken")
        filled_port["nodePort"] = node_port
    return filled_port

"""Services on a branch: what a server fills in, and what goes with them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from serving import Running


@pytest.fixture
def api(writable: Running) -> httpx.Client:
    """Return a client of the server."""
    return writable.client


def test_a_service_gets_what_a_server_allocates(api: httpx.Client) -> None:
    path = "/api/v1/namespaces/default/services"
    spec = {"ports": [{"port": 80}], "selector": {"a": "b"}}
    made = api.post(path, json={"metadata": {"name": "web"}, "spec": spec}).json()
    assert made["spec"]["type"] == "ClusterIP"
    assert made["spec"]["clusterIPs"] == [made["spec"]["clusterIP"]] == ["10.96.0.10"]
    assert made["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    spec = {"type": "NodePort", "ports": [{"port": 80, "targetPort": "http"}, {"port": 81}]}
    other = api.post(path, json={"metadata": {"name": "node"}, "spec": spec}).json()
    assert other["spec"]["clusterIP"] == "10.96.0.11"
    assert [one["nodePort"] for one in other["spec"]["ports"]] == [30000, 30001]
    headless = {"metadata": {"name": "mpi"}, "spec": {"clusterIP": "None"}}
    assert api.post(path, json=headless).json()["spec"]["clusterIPs"] == ["None"]
    metadata_ = {"name": "node", "resourceVersion": other["metadata"]["resourceVersion"]}
    back = api.put(f"{path}/node", json={"metadata": metadata_, "spec": spec}).json()
    assert back == other, "what was allocated stays"


@pytest.mark.parametrize(
    "spec",
    ["x", [1], {"type": []}, {"ports": "x"}, {"ports": [1, {"nodePort": []}]}, {"clusterIP": {}}],
)
def test_a_strange_service_is_no_fault_of_the_server(api: httpx.Client, spec: Any) -> None:
    path = "/api/v1/namespaces/default/services"
    for name in ("one", "two"):
        answer = api.post(path, json={"metadata": {"name": name}, "spec": spec})
        assert answer.status_code < 500, answer.text


def test_the_endpoints_of_a_service_go_with_it(api: httpx.Client) -> None:
    services = "/api/v1/namespaces/default/services"
    endpoints = "/api/v1/namespaces/default/endpoints"
    api.post(services, json={"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}})
    for name in ("web", "other"):
        assert api.post(endpoints, json={"metadata": {"name": name}}).status_code == 201
    assert api.delete(f"{services}/web").status_code == 200
    assert api.get(f"{endpoints}/web").status_code == 404
    assert api.get(f"{endpoints}/other").status_code == 200

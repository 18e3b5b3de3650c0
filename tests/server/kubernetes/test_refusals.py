"""The past cannot be changed, and what is asked wrongly is said so: never a fault of the server."""

from __future__ import annotations

from typing import Any

import pytest
from serving import Running

QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ["/api/v1/nodes/node-1", QUEUES, "/api/v1/namespaces/a/pods"])
def test_writes_are_refused_with_the_moment_and_the_way_out(
    server: Running, method: str, path: str
) -> None:
    answer = server.client.request(method, f"/at/rv:391{path}", json={})
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET"
    status = answer.json()
    assert (status["kind"], status["reason"]) == ("Status", "MethodNotAllowed")
    assert "rv:391" in status["message"]
    assert "what-if" in status["message"]
    assert "--branch NAME --writable" in status["message"]


def test_what_would_be_created_and_exists_is_said_to_exist(server: Running) -> None:
    given = {"metadata": {"name": "default"}}
    answer = server.client.post(QUEUES, json=given)
    assert (answer.status_code, answer.json()["reason"]) == (409, "AlreadyExists")
    packed = b"k8s\0\x12\x0b\x0a\x09\x0a\x07default"
    answer = server.client.post("/api/v1/namespaces", content=packed)
    assert answer.json()["reason"] == "AlreadyExists"
    given = {"metadata": {"name": "new"}}
    assert server.client.post(QUEUES, json=given).status_code == 405


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("POST", QUEUES), ("PATCH", f"{QUEUES}/gold?dryRun=All"), ("POST", "/plinian/v1/play")),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
    ],
)
@pytest.mark.parametrize("body", [b'{"a":' * 5000, b'{"a":' * 400 + b"1" + b"}" * 400, b"\xff"])
def test_a_strange_body_is_no_fault_of_the_server(
    server: Running, method: str, path: str, body: bytes
) -> None:
    for media in ("application/merge-patch+json", "application/apply-patch+yaml"):
        answer = server.client.request(method, path, content=body, headers={"Content-Type": media})
        assert answer.status_code < 500, answer.text


@pytest.mark.parametrize("below", ["log", "exec", "attach", "portforward", "proxy"])
def test_what_containers_do_is_not_in_the_log(server: Running, below: str) -> None:
    name = server.client.get("/api/v1/pods").json()["items"][0]["metadata"]["name"]
    answer = server.client.get(f"/api/v1/namespaces/default/pods/{name}/{below}")
    assert answer.status_code == 405
    assert "log" in answer.text or "past" in answer.text


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"limit": "9" * 30}, 400),
        ({"limit": "-1"}, 400),
        ({"continue": "junk"}, 400),
        ({"continue": "eyJydiI6LTEsInN0YXJ0IjpbIiIsIiJdfQ"}, 400),
        ({"continue": "eyJydiI6OTk5OTk5LCJzdGFydCI6WyIiLCIiXX0"}, 410),
        ({"resourceVersion": "junk"}, 400),
        ({"resourceVersion": "9" * 40}, 400),
        ({"resourceVersion": "1", "resourceVersionMatch": "Never"}, 400),
        ({"resourceVersionMatch": "Exact"}, 400),
        ({"labelSelector": "a in (b"}, 400),
        ({"fieldSelector": "spec.containers=x"}, 400),
        ({"fieldSelector": "junk"}, 400),
        ({"watch": "1", "sendInitialEvents": "true"}, 422),
        ({"watch": "1", "resourceVersion": "1", "resourceVersionMatch": "Exact"}, 422),
        ({"watch": "1", "timeoutSeconds": "soon"}, 400),
    ],
)
def test_a_wrong_parameter_is_said_to_be_wrong(
    server: Running, query: dict[str, Any], code: int
) -> None:
    answer = server.client.get("/api/v1/pods", params=query)
    assert answer.status_code == code, answer.text
    assert answer.json()["kind"] == "Status"


def test_an_unknown_field_is_named_as_an_api_server_does(server: Running) -> None:
    answer = server.client.get("/api/v1/pods", params={"fieldSelector": "spec.foo=1"})
    assert answer.json()["message"] == "field label not supported: spec.foo"


@pytest.mark.parametrize(
    "path",
    [
        *("/api/v2", "/api/v1/nopes", "/apis/nope", "/apis/apps/v9", "/apis/apps/v1/nopes"),
        *("/api/v1/namespaces/x/nodes", "/api/v1/pods/x", "/api/v1/nodes/n/status/x/y"),
        *("/at/nonsense/api/v1/pods", "/at/rv:0/api/v1/pods", "/at/rv:391/nope"),
        *("/openapi/v2", "/openapi/v3/apis/nope/v1", "/openapi/v4"),
    ],
)
def test_what_is_not_there_is_not_found(server: Running, path: str) -> None:
    answer = server.client.get(path)
    assert answer.status_code == 404, answer.text
    assert "Traceback" not in answer.text

"""Clients find every resource: by discovery, by its schema, and what they may do with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from serving import Running, ended, serving

import plinian

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubject"


def test_all_at_once_says_the_same_as_group_by_group(server: Running) -> None:
    for root in ("api", "apis"):
        whole = server.client.get(f"/{root}", headers={"Accept": f"{AGGREGATED},application/json"})
        assert whole.headers["Content-Type"] == AGGREGATED
        for group in whole.json()["items"]:
            name = group["metadata"].get("name", "")
            for version in group["versions"]:
                path = "/".join(filter(None, (root, name, version["version"])))
                single = server.client.get(f"/{path}").json()["resources"]
                assert {one["resource"] for one in version["resources"]} == {
                    one["name"] for one in single if "/" not in one["name"]
                }


def test_groups_are_listed_with_the_version_that_the_log_has(server: Running) -> None:
    groups = {one["name"]: one for one in server.client.get("/apis").json()["groups"]}
    assert groups["scheduling.volcano.sh"]["preferredVersion"] == {
        "groupVersion": "scheduling.volcano.sh/v1beta1",
        "version": "v1beta1",
    }
    assert server.client.get("/apis/apps").json()["kind"] == "APIGroup"
    assert server.client.get("/api").json()["versions"] == ["v1"]


def test_an_answer_that_still_holds_is_not_sent_again(server: Running) -> None:
    first = server.client.get("/apis")
    again = server.client.get("/apis", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = server.client.get("/apis", headers={"Accept": AGGREGATED})
    assert other.headers["ETag"] != first.headers["ETag"]


def test_metrics_are_not_said_to_be_there(server: Running) -> None:
    assert "metrics.k8s.io" not in server.client.get("/apis").text


@pytest.mark.parametrize("path", ["/version", "/version/"])
def test_the_version_has_the_form_that_clients_parse(server: Running, path: str) -> None:
    found = server.client.get(path).json()
    assert found["gitVersion"].startswith(f"v{found['major']}.{found['minor']}.")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping"])
def test_it_is_healthy(server: Running, path: str) -> None:
    assert server.client.get(path).text == "ok"


def test_kinds_of_kubernetes_have_their_schemas(server: Running) -> None:
    index = server.client.get("/openapi/v3").json()["paths"]
    found = server.client.get(index["api/v1"]["serverRelativeURL"]).json()
    schemas = found["components"]["schemas"]
    pod = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]
    assert pod["nodeName"]["type"] == "string"
    assert "/api/v1/namespaces/{namespace}/pods" in found["paths"]
    references = set(_references(found))
    assert references
    assert references <= {f"#/components/schemas/{name}" for name in schemas}


def _references(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return [*own, *(one for part in value.values() for one in _references(part))]
    return [one for part in value for one in _references(part)] if isinstance(value, list) else []


def test_a_kind_without_a_schema_has_the_fields_of_its_objects(server: Running) -> None:
    path = "/openapi/v3/apis/scheduling.volcano.sh/v1beta1"
    schemas = server.client.get(path).json()["components"]["schemas"]
    group = schemas["sh.volcano.scheduling.v1beta1.PodGroup"]["properties"]
    assert group["spec"]["properties"]["minMember"]["type"] == "integer"
    assert group["metadata"]["allOf"]


DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "trains.example.com", "uid": "u1", "resourceVersion": "5"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {
            "kind": "Train",
            "plural": "trains",
            "shortNames": ["tr"],
            "categories": ["all"],
            "listKind": "TrainList",
        },
        "versions": [
            {
                "name": "v2",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "description": "A train.",
                        "properties": {"spec": {"type": "object"}},
                    }
                },
                "additionalPrinterColumns": [
                    {"name": "Cars", "type": "integer", "jsonPath": ".spec.cars"},
                    {"name": "From", "type": "string", "jsonPath": ".spec.from", "priority": 1},
                    {"name": "Late", "type": "boolean", "jsonPath": ".spec.late"},
                ],
                "selectableFields": [{"jsonPath": ".spec.from"}],
            },
            {"name": "v1", "served": True, "storage": False, "schema": {}},
            {"name": "v0", "served": False, "storage": False, "schema": {}},
        ],
    },
}
TRAIN = {
    "apiVersion": "example.com/v2",
    "kind": "Train",
    "metadata": {"name": "t", "namespace": "rail", "uid": "u2", "resourceVersion": "6"},
    "spec": {"cars": 7, "from": "Ulm", "late": True},
}
UNLISTED = {
    "apiVersion": "other.example.com/v3",
    "kind": "Ferry",
    "metadata": {"name": "f", "uid": "u3", "resourceVersion": "7"},
}


@pytest.fixture(scope="module")
def defined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log with a CustomResourceDefinition, an object of it, and no namespace."""
    place = tmp_path_factory.mktemp("defined") / "defined.db"
    file = place.with_suffix(".json")
    items = [DEFINITION, TRAIN, UNLISTED]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    with plinian.open(place, create=True) as log:
        log.ingest([file])
    return place


@pytest.fixture(scope="module")
def trains(defined: Path) -> Running:
    """Return a server of that log."""
    running = serving(defined)
    yield running
    ended(running)


def test_custom_resources_are_served_as_their_definition_says(trains: Running) -> None:
    (found,) = (
        one
        for one in trains.client.get("/apis/example.com/v2").json()["resources"]
        if one["name"] == "trains"
    )
    assert (found["shortNames"], found["categories"]) == (["tr"], ["all"])
    versions = trains.client.get("/apis/example.com").json()["versions"]
    assert [one["version"] for one in versions] == ["v2", "v1"]
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    path = "/apis/example.com/v2/namespaces/rail/trains"
    table = trains.client.get(path, headers=accept).json()
    assert [(one["name"], one["priority"]) for one in table["columnDefinitions"]] == [
        *(("Name", 0), ("Cars", 0), ("From", 1), ("Late", 0)),
    ]
    assert table["rows"][0]["cells"] == ["t", 7, "Ulm", True]
    chosen = trains.client.get(path, params={"fieldSelector": "spec.from=Ulm"}).json()["items"]
    assert len(chosen) == 1
    assert not trains.client.get(path, params={"fieldSelector": "spec.from=Bonn"}).json()["items"]
    schemas = trains.client.get("/openapi/v3/apis/example.com/v2").json()["components"]["schemas"]
    assert schemas["com.example.v2.Train"]["description"] == "A train."


def test_another_version_shows_the_same_objects(trains: Running) -> None:
    (one,) = trains.client.get("/apis/example.com/v1/trains").json()["items"]
    assert one["apiVersion"] == "example.com/v1"
    assert one["spec"]["cars"] == 7


def test_a_kind_that_only_its_objects_tell_of_is_served(trains: Running) -> None:
    (one,) = trains.client.get("/apis/other.example.com/v3/ferries").json()["items"]
    assert one["metadata"]["name"] == "f"


def test_namespaces_that_the_log_lacks_are_derived_and_marked(trains: Running) -> None:
    (one,) = trains.client.get("/api/v1/namespaces").json()["items"]
    assert one["metadata"]["name"] == "rail"
    assert "plinian/derived" in one["metadata"]["annotations"]
    assert trains.client.get("/api/v1/namespaces/rail").json() == one


@pytest.mark.parametrize(
    ("verb", "below", "allowed"),
    [
        *(("get", "", True), ("list", "", True), ("watch", "", True), ("get", "status", True)),
        *(("delete", "", False), ("create", "", False), ("patch", "", False)),
        *(("get", "log", False), ("create", "exec", False)),
    ],
)
def test_permissions_are_answered_truthfully(
    server: Running, verb: str, below: str, *, allowed: bool
) -> None:
    asked = {"verb": verb, "resource": "pods", "subresource": below, "namespace": "default"}
    answer = server.client.post(
        f"{REVIEWS}accessreviews", json={"spec": {"resourceAttributes": asked}}
    )
    assert answer.status_code == 201
    assert answer.json()["status"]["allowed"] is allowed
    packed = server.client.post(f"{REVIEWS}accessreviews", content=_packed(asked))
    assert packed.json()["status"] == answer.json()["status"]
    assert packed.json()["spec"]["resourceAttributes"]["resource"] == "pods"


def _packed(asked: dict[str, str]) -> bytes:
    """Return a SelfSubjectAccessReview in protobuf."""
    order = ("namespace", "verb", "group", "version", "resource", "subresource", "name")
    attributes = b"".join(
        _field(number, asked[name].encode())
        for number, name in enumerate(order, start=1)
        if asked.get(name)
    )
    review = _field(1, b"") + _field(2, _field(1, attributes))
    kind = _field(1, b"authorization.k8s.io/v1") + _field(2, b"SelfSubjectAccessReview")
    return b"k8s\0" + _field(1, kind) + _field(2, review)


def _field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"k8s\0\xff", b"k8s\0\x12\x7fshort", b"k8s"])
def test_a_broken_review_is_refused(server: Running, body: bytes) -> None:
    answer = server.client.post(f"{REVIEWS}accessreviews", content=body)
    assert answer.status_code == 400
    assert answer.json()["kind"] == "Status"


def test_who_asks_is_a_reader(server: Running) -> None:
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    assert server.client.post(path, json={}).json()["status"]["userInfo"]["username"]
    rules = server.client.post(f"{REVIEWS}rulesreviews", json={"spec": {"namespace": "a"}}).json()
    assert rules["status"]["resourceRules"][0]["verbs"] == ["get", "list", "watch"]


@pytest.mark.parametrize("path", ["api/v1", "apis/scheduling.volcano.sh/v1beta1"])
def test_kubectl_may_leave_the_check_of_an_object_to_the_server(server: Running, path: str) -> None:
    paths = server.client.get(f"/openapi/v3/{path}").json()["paths"]
    patches = [one["patch"] for one in paths.values() if "patch" in one]
    resources = server.client.get(f"/{path}").json()["resources"]
    assert {one["x-kubernetes-group-version-kind"]["kind"] for one in patches} == {
        one["kind"] for one in resources if "/" not in one["name"]
    }
    for patch in patches:
        assert [one["name"] for one in patch["parameters"]] == [
            "dryRun",
            "fieldManager",
            "fieldValidation",
            "force",
        ]


def test_an_older_kubectl_gets_an_empty_document_of_openapi_v2(server: Running) -> None:
    """Without one, ``explain`` of kubectl 1.27 and 1.28 ends; it then reads v3."""
    wanted = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
    found = server.client.get("/openapi/v2", headers={"Accept": wanted})
    assert (found.status_code, found.content) == (200, b"\n\x032.0")
    assert found.headers["Content-Type"].endswith("v2.v1.0+protobuf")
    assert server.client.get("/openapi/v2").status_code == 404, "there is no other form of it"

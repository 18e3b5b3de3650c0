"""Fields that no server keeps: left out, and refused, warned of or ignored as the client says."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest
from protobufs import MEDIA, message, metadata, wrapped
from serving import Running

PODS = "/api/v1/namespaces/default/pods"
CONFIG = "/api/v1/namespaces/default/configmaps"
WAITING = f"{PODS}/gpu-2-gpu-0"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CATS = "/apis/zoo.example/v1/namespaces/default/cats"
MERGE = {"Content-Type": "application/merge-patch+json"}
JSON = {"Content-Type": "application/json"}
POD: dict[str, Any] = {
    "metadata": {"name": "a", "lables": {"x": "y"}, "labels": {"any": "thing"}},
    "spec": {
        "containers": [{"name": "c", "image": "i", "imagePullPolcy": "Never"}],
        "nodeSelector": {"what": "ever"},
    },
}
UNKNOWN = ['unknown field "metadata.lables"', 'unknown field "spec.containers[0].imagePullPolcy"']


@pytest.fixture
def api(writable: Running) -> httpx.Client:
    """Return a client of the server."""
    return writable.client


def warned(answer: httpx.Response) -> list[str]:
    """Return the warnings of an answer, as kubectl prints them."""
    found = re.findall(r'299 \S+ "((?:[^"\\]|\\.)*)"', answer.headers.get("Warning", ""))
    return [re.sub(r"\\(.)", r"\1", one) for one in found]


def create(api: httpx.Client, path: str, body: Any, validation: str = "") -> httpx.Response:
    """Create an object."""
    query = {"fieldValidation": validation} if validation else {}
    return api.post(path, json=body, params=query)


def test_strict_validation_refuses_unknown_fields(api: httpx.Client) -> None:
    answer = create(api, PODS, POD, "Strict")
    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")
    assert answer.json()["message"] == (
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
        + ", ".join(UNKNOWN)
    )
    assert api.get(f"{PODS}/a").status_code == 404


@pytest.mark.parametrize("validation", ["", "Warn"])
def test_a_warning_names_each_unknown_field_and_none_is_stored(
    api: httpx.Client, validation: str
) -> None:
    answer = create(api, PODS, POD, validation)
    assert (answer.status_code, warned(answer)) == (201, UNKNOWN)
    found = api.get(f"{PODS}/a").json()
    assert "lables" not in found["metadata"]
    assert found["metadata"]["labels"] == {"any": "thing"}
    assert found["spec"] == {
        "containers": [{"name": "c", "image": "i"}],
        "nodeSelector": {"what": "ever"},
    }


def test_ignored_fields_are_left_out_without_a_word(api: httpx.Client) -> None:
    answer = create(api, PODS, POD, "Ignore")
    assert (answer.status_code, warned(answer)) == (201, [])
    assert "lables" not in api.get(f"{PODS}/a").json()["metadata"]


def test_another_way_of_validation_is_refused(api: httpx.Client) -> None:
    answer = create(api, PODS, POD, "Loose")
    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    assert 'supported values: "Ignore", "Strict", "Warn"' in answer.json()["message"]


def test_repeated_fields_are_found(api: httpx.Client) -> None:
    text = b'{"metadata":{"name":"b","name":"a"},"data":{"x":"1","y":"2","x":"3"}}'
    strict = api.post(CONFIG, content=text, headers=JSON, params={"fieldValidation": "Strict"})
    assert strict.status_code == 400
    duplicates = ['duplicate field "metadata.name"', 'duplicate field "data.x"']
    assert strict.json()["message"].endswith(f"strict decoding error: {', '.join(duplicates)}")
    made = api.post(CONFIG, content=text, headers=JSON)
    assert (made.status_code, warned(made)) == (201, duplicates)
    assert api.get(f"{CONFIG}/a").json()["data"] == {"x": "3", "y": "2"}


def test_names_of_fields_cannot_break_the_answer(api: httpx.Client) -> None:
    pod = {**POD, "spec": {**POD["spec"], "x\r\nSet-Cookie: a=b\x1b[2J": 1}}
    made = create(api, PODS, pod)
    assert made.status_code == 201
    assert "Set-Cookie" not in made.headers
    assert not [one for one in made.headers["Warning"] if not one.isprintable()]


def test_faults_without_end_are_bounded(api: httpx.Client) -> None:
    """As many as a body can have; what takes the square of their number would take hours."""
    fields = ",".join('"a":"1","b":"1"' for _ in range(150_000))
    text = f'{{"metadata":{{"name":"a"}},"data":{{{fields}}}}}'.encode()
    strict = api.post(CONFIG, content=text, headers=JSON, params={"fieldValidation": "Strict"})
    assert strict.status_code == 400
    assert len(strict.content) < 10_000


def test_a_patch_is_validated_by_what_it_makes(api: httpx.Client) -> None:
    patch = {"spec": {"prioritty": 3}}
    strict = api.patch(WAITING, json=patch, headers=MERGE, params={"fieldValidation": "Strict"})
    assert (strict.status_code, strict.json()["reason"]) == (422, "Invalid")
    assert 'unknown field "spec.prioritty"' in strict.json()["message"]
    before = api.get(WAITING).json()["metadata"]["resourceVersion"]
    done = api.patch(WAITING, json=patch, headers=MERGE)
    assert (done.status_code, warned(done)) == (200, ['unknown field "spec.prioritty"'])
    assert done.json()["metadata"]["resourceVersion"] == before, "nothing changed"


def test_custom_objects_are_pruned_by_their_definition(api: httpx.Client) -> None:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    spec = {
        "type": "object",
        "properties": {
            "toys": {"type": "object", "additionalProperties": {"type": "object"}},
            "notes": free,
            "closed": {"type": "object"},
        },
    }
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    definition = {
        "metadata": {"name": "cats.zoo.example"},
        "spec": {
            "group": "zoo.example",
            "scope": "Namespaced",
            "names": {"kind": "Cat", "plural": "cats"},
            "versions": [version],
        },
    }
    made = api.post(DEFINITIONS, json=definition)
    assert (made.status_code, warned(made)) == (201, [])
    cat = {
        "metadata": {"name": "tom", "annotations": {"a.b/c": "d"}},
        "spec": {
            "toys": {"mouse": {"noise": True}},
            "notes": {"any": {"thing": 1}},
            "closed": {"x": 1},
            "tail": "long",
        },
    }
    answer = create(api, CATS, cat)
    assert answer.status_code == 201
    unknown = ["spec.toys.mouse.noise", "spec.closed.x", "spec.tail"]
    assert warned(answer) == [f'unknown field "{one}"' for one in unknown]
    found = api.get(f"{CATS}/tom").json()
    assert found["spec"] == {"toys": {"mouse": {}}, "notes": {"any": {"thing": 1}}, "closed": {}}
    assert found["metadata"]["annotations"] == {"a.b/c": "d"}


def test_what_was_recorded_is_written_back_whole(api: httpx.Client) -> None:
    """A recorded server may know fields that the schemas lack: what a client returns stays."""
    for path in (
        *("/api/v1/pods", "/api/v1/nodes", "/apis/batch.volcano.sh/v1alpha1/jobs"),
        *(
            "/apis/scheduling.volcano.sh/v1beta1/podgroups",
            "/apis/scheduling.volcano.sh/v1beta1/queues",
        ),
    ):
        for one in api.get(path).json()["items"][:20]:
            namespace, name = one["metadata"].get("namespace"), one["metadata"]["name"]
            base, _, plural = path.rpartition("/")
            where = f"{base}/namespaces/{namespace}/{plural}" if namespace else path
            strict = {"fieldValidation": "Strict"}
            whole = api.get(f"{where}/{name}").json()
            back = api.put(f"{where}/{name}", json=whole, params=strict)
            assert back.status_code == 200, back.text
            assert back.json() == whole


def test_protobuf_has_no_unknown_fields(api: httpx.Client) -> None:
    lease = wrapped("coordination.k8s.io/v1", "Lease", message((1, metadata("l", "default"))))
    made = api.post(
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        content=lease,
        headers={"Content-Type": MEDIA},
        params={"fieldValidation": "Strict"},
    )
    assert (made.status_code, warned(made)) == (201, [])


APPLY = {"Content-Type": "application/apply-patch+yaml"}
YAML = {"Content-Type": "application/yaml"}
TWICE = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  name: b
data:
  x: "1"
  x: "2"
"""
LINES = ['line 6: key "name" already set in map', 'line 9: key "x" already set in map']


def apply(api: httpx.Client, path: str, body: str, validation: str = "") -> httpx.Response:
    """Apply an object on the server's side."""
    query = {"fieldManager": "me", **({"fieldValidation": validation} if validation else {})}
    return api.patch(path, content=body, headers=APPLY, params=query)


@pytest.mark.parametrize("validation", ["", "Strict", "Warn", "Ignore"])
def test_an_apply_with_unknown_fields_is_refused(api: httpx.Client, validation: str) -> None:
    """A server does not look at the way of validation: no manager can own such a field."""
    body = json.dumps({"apiVersion": "v1", "kind": "Pod", **POD})
    answer = apply(api, f"{PODS}/a", body, validation)
    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")
    assert answer.json()["message"] == (
        "failed to create typed patch object (default/a; /v1, Kind=Pod): errors:\n"
        "  .metadata.lables: field not declared in schema\n"
        '  .spec.containers[name="c"].imagePullPolcy: field not declared in schema'
    )
    assert api.get(f"{PODS}/a").status_code == 404


def test_an_apply_may_have_the_fields_of_the_object_that_is_there(api: httpx.Client) -> None:
    there = api.get(WAITING).json()
    before = there["metadata"]["resourceVersion"]
    one = {"metadata": {"labels": {"a": "b"}, "lables": {}}}
    refused = apply(api, WAITING, json.dumps(one))
    assert refused.json()["message"] == (
        "failed to create typed patch object (default/gpu-2-gpu-0; /v1, Kind=Pod): "
        ".metadata.lables: field not declared in schema"
    )
    assert api.get(WAITING).json()["metadata"]["resourceVersion"] == before
    done = apply(api, WAITING, json.dumps({"metadata": {"labels": {"a": "b"}}}), "Strict")
    assert done.status_code == 200, done.text


def test_repeated_fields_of_an_apply_are_found(api: httpx.Client) -> None:
    strict = apply(api, f"{CONFIG}/b", TWICE, "Strict")
    assert (strict.status_code, strict.json()["reason"]) == (400, "BadRequest")
    assert strict.json()["message"] == (
        "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  "
        + "\n  ".join(LINES)
    )
    warns = apply(api, f"{CONFIG}/b", TWICE)
    assert (warns.status_code, warned(warns)[-2:]) == (201, LINES)
    assert api.get(f"{CONFIG}/b").json()["data"] == {"x": "2"}
    ignored = apply(api, f"{CONFIG}/b", TWICE, "Ignore")
    assert ignored.status_code == 200
    assert not set(LINES) & set(warned(ignored))


def test_repeated_fields_of_yaml_are_found(api: httpx.Client) -> None:
    strict = api.post(CONFIG, content=TWICE, headers=YAML, params={"fieldValidation": "Strict"})
    assert strict.status_code == 400
    assert strict.json()["message"] == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
        "yaml: unmarshal errors:\n  " + "\n  ".join(LINES)
    )
    made = api.post(CONFIG, content=TWICE, headers=YAML)
    assert (made.status_code, warned(made)) == (201, LINES)
    assert api.get(f"{CONFIG}/b").json()["data"] == {"x": "2"}

"""What a change would make of an object is answered, and nothing is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from serving import Running

PODS = "/api/v1/namespaces/default/pods"
GOLD = "/apis/scheduling.volcano.sh/v1beta1/queues/gold"
STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


def tried(server: Running, path: str, patch: Any, media: str, code: int = 200) -> Any:
    """Return what the server says that a patch would make."""
    body = patch if isinstance(patch, str) else json.dumps(patch)
    answer = server.client.patch(
        path, params={"dryRun": "All"}, content=body, headers={"Content-Type": media}
    )
    assert answer.status_code == code, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def pod(server: Running) -> Any:
    """Return a pod of the log."""
    return server.client.get(PODS).json()["items"][0]


def test_a_strategic_merge_finds_elements_of_lists_by_their_keys(server: Running, pod: Any) -> None:
    name = pod["spec"]["containers"][0]["name"]
    patch = {
        "spec": {
            "$setElementOrder/containers": [{"name": name}, {"name": "more"}],
            "containers": [{"name": name, "image": "other"}, {"name": "more", "image": "i"}],
            "tolerations": [{"key": "a", "operator": "Exists"}],
            "nodeName": None,
        }
    }
    made = tried(server, f"{PODS}/{pod['metadata']['name']}", patch, STRATEGIC)
    first = pod["spec"]["containers"][0]
    assert made["spec"]["containers"] == [
        {**first, "image": "other"},
        {"name": "more", "image": "i"},
    ]
    assert made["spec"]["tolerations"] == [{"key": "a", "operator": "Exists"}], "no merge key"
    assert "nodeName" not in made["spec"]
    assert server.client.get(f"{PODS}/{pod['metadata']['name']}").json() == pod


def test_directives_delete_and_replace(server: Running, pod: Any) -> None:
    path = f"{PODS}/{pod['metadata']['name']}"
    name = pod["spec"]["containers"][0]["name"]
    patch = {"spec": {"containers": [{"name": name, "$patch": "delete"}]}}
    assert tried(server, path, patch, STRATEGIC)["spec"]["containers"] == []
    only = {"metadata": {"labels": {"$patch": "replace", "only": "this"}}}
    assert tried(server, path, only, STRATEGIC)["metadata"]["labels"] == {"only": "this"}


def test_custom_resources_are_merged_as_rfc_7386_says(server: Running) -> None:
    held = server.client.get(GOLD).json()
    for media, patch in (
        (MERGE, {"spec": {"weight": 77}, "metadata": {"annotations": {}}}),
        (APPLY, "spec:\n  weight: 77\n"),
        (JSON_PATCH, [{"op": "replace", "path": "/spec/weight", "value": 77}]),
    ):
        made = tried(server, GOLD, patch, media)
        assert made["spec"] == {**held["spec"], "weight": 77}
        assert made["metadata"]["generation"] == held["metadata"]["generation"] + 1
        assert "annotations" not in made["metadata"]
    assert server.client.get(GOLD).json() == held


@pytest.mark.parametrize(
    ("patch", "media", "code"),
    [
        ("{", MERGE, 400),
        ("[]", MERGE, 400),
        ("{}", JSON_PATCH, 400),
        ('[{"op":"remove"}]', JSON_PATCH, 400),
        ('[{"op":"forget","path":"/spec"}]', JSON_PATCH, 400),
        ('[{"op":"remove","path":"/nothing"}]', JSON_PATCH, 422),
        ('[{"op":"remove","path":"/metadata"}]', JSON_PATCH, 422),
        ('[{"op":"replace","path":"/spec/no/where","value":1}]', JSON_PATCH, 422),
        ("a: [", APPLY, 400),
        ("{}", "text/plain", 415),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(
    server: Running, patch: str, media: str, code: int
) -> None:
    assert tried(server, GOLD, patch, media, code)["kind"] == "Status"


def test_what_does_not_exist_cannot_be_patched_but_tried_to_create(server: Running) -> None:
    path = GOLD.replace("gold", "new")
    assert tried(server, path, {}, MERGE, 404)["reason"] == "NotFound"
    given = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    given |= {"metadata": {"name": "new"}}
    made = server.client.post(path.rpartition("/")[0], params={"dryRun": "All"}, json=given)
    assert (made.status_code, made.json()) == (201, given)
    assert server.client.get(path).status_code == 404


def test_what_does_not_exist_is_applied_as_new(server: Running) -> None:
    """``kubectl diff --server-side`` and ``apply --server-side --dry-run=server`` ask so."""
    given = "{apiVersion: v1, kind: Pod, metadata: {name: new, namespace: default}, spec: {a: 1}}"
    path = "/api/v1/namespaces/default/pods/new"
    made = tried(server, path, given, APPLY, 201)
    assert made["metadata"] == {"name": "new", "namespace": "default"}
    assert made["spec"] == {"a": 1}
    assert server.client.get(path).status_code == 404

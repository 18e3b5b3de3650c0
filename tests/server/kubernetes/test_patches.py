"""What a change would make of an object is answered, and nothing is stored."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from serving import Running, serving_here

from plinian.replay.server.kubernetes import kubernetes_routes as routes
from plinian.replay.server.kubernetes.write.strategic import strategic_merged
from plinian.replay.server.settings import ServerSettings

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
        ("[1]", JSON_PATCH, 400),
        ('[{"op":"remove"}]', JSON_PATCH, 422),
        ('[{"op":"remove","path":3}]', JSON_PATCH, 422),
        ('[{"op":"forget","path":"/spec"}]', JSON_PATCH, 422),
        ('[{"op":5,"path":"/spec","value":1}]', JSON_PATCH, 422),
        ('[{"op":["add"],"path":"/spec","value":1}]', JSON_PATCH, 422),
        ('[{"op":"copy","path":"/spec","from":{}}]', JSON_PATCH, 422),
        ('[{"op":"add","path":"/spec"}]', JSON_PATCH, 422),
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


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": [{"image": "no name"}]},
        {"containers": ["text"]},
        {"containers": [{"name": "a", "$patch": "forget"}]},
        {"$patch": 5},
        {"$patch": ["replace"]},
        {"$deleteFromPrimitiveList/finalizers": "text"},
    ],
)
def test_a_malformed_strategic_merge_is_refused(server: Running, pod: Any, spec: Any) -> None:
    found = tried(server, f"{PODS}/{pod['metadata']['name']}", {"spec": spec}, STRATEGIC, 422)
    assert found["reason"] == "Invalid"


def test_a_directive_deletes_an_object(server: Running, pod: Any) -> None:
    patch = {"metadata": {"labels": {"$patch": "delete"}}}
    made = tried(server, f"{PODS}/{pod['metadata']['name']}", patch, STRATEGIC)
    assert "labels" not in made["metadata"]


def test_a_small_patch_makes_no_large_object(server: Running) -> None:
    doubling = [{"op": "add", "path": "/c0", "value": "x" * 1000}]
    doubling += [{"op": "copy", "from": f"/c{n}", "path": f"/c{n + 1}"} for n in range(10)]
    nested = [{"op": "add", "path": "/c", "value": {}}]
    nested += [{"op": "copy", "from": "/c", "path": f"/c/{n}"} for n in range(60)]
    assert len(tried(server, GOLD, doubling, JSON_PATCH)["c10"]) == 1000
    found = tried(server, GOLD, nested, JSON_PATCH, 422)
    assert "exceeding the limit" in found["message"]


def test_a_patch_of_too_many_operations_or_values_is_too_large(server: Running) -> None:
    many = [{"op": "test", "path": "/kind", "value": "Queue"}] * 10_001
    assert tried(server, GOLD, many, JSON_PATCH, 413)["reason"] == "RequestEntityTooLarge"
    wide = {"spec": {"x": [[]] * 250_000}}
    assert tried(server, GOLD, wide, MERGE, 413)["reason"] == "RequestEntityTooLarge"
    commas = {"metadata": {"annotations": {"table": "1,2," * 150_000}}}
    assert (
        tried(server, GOLD, commas, MERGE)["metadata"]["annotations"]
        == commas["metadata"]["annotations"]
    )
    aliases = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n"
        for before, name in pairwise("abcdefg")
    )
    tried(server, GOLD, aliases, APPLY, 400)


class Counted(dict[str, Any]):
    """An object that counts how often a field is looked up."""

    looks = 0

    def __getitem__(self, name: str) -> Any:
        Counted.looks += 1
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field."""
        Counted.looks += 1
        return super().get(name, default)


def test_elements_of_lists_are_found_without_looking_at_all_others() -> None:
    some = 2_000
    key = {"x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}
    schema = {"properties": {"list": key, "plain": {"x-kubernetes-patch-strategy": "merge"}}}
    held = {"list": [Counted(name=f"n{n}") for n in range(some)], "plain": list(range(some))}
    patch = {
        "list": [{"name": f"n{n}", "v": n} for n in reversed(range(some // 2, 2 * some))],
        "plain": [*range(some), "new", "new"],
    }
    made = strategic_merged(held, patch, schema)
    assert [one["name"] for one in made["list"][:some]] == [f"n{n}" for n in range(some)]
    assert len(made["list"]) == 2 * some
    assert made["plain"] == [*range(some), "new"]
    assert Counted.looks < 20 * some
    gone = {"list": [{"name": f"n{n}", "$patch": "delete"} for n in range(some)]}
    assert strategic_merged(held, gone, schema)["list"] == []


def test_what_clients_send_is_read_outside_of_the_event_loop(
    demo_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[tuple[str, bool]]()

    def noting(name: str, real: Any) -> Any:
        def called(*given: Any) -> Any:
            try:
                asyncio.get_running_loop()
                inside = True
            except RuntimeError:
                inside = False
            seen.append((name, inside))
            return real(*given)

        return called

    for name in ("patched_object", "asked_of", "reviewed", "_name_in"):
        monkeypatch.setattr(routes, name, noting(name, getattr(routes, name)))
    review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    with serving_here(ServerSettings(place=str(demo_log), port=0)) as running:
        tried(running, GOLD, {"spec": {"weight": 2}}, MERGE)
        running.client.get(PODS, params={"labelSelector": "a=b"})
        running.client.post(review, json={"spec": {}})
        running.client.post(GOLD.rpartition("/")[0], json={"metadata": {"name": "new"}})
    assert {name for name, _ in seen} == {"patched_object", "asked_of", "reviewed", "_name_in"}
    assert not [name for name, inside in seen if inside]


def test_a_selector_has_a_bounded_number_of_conditions(server: Running) -> None:
    many = ",".join(f"!k{n}" for n in range(201))
    for name, text in (
        ("labelSelector", many),
        ("fieldSelector", many.replace("!", "metadata.name!=")),
    ):
        found = server.client.get(PODS, params={name: text})
        assert found.status_code == 400, text
        assert len(found.text) < 2_000
    listed = "app in (" + ",".join(f"v{n}" for n in range(5_000)) + ")"
    assert server.client.get(PODS, params={"labelSelector": listed}).status_code == 200

"""Writes to a branch: what is accepted and refused, and which events it becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from branches import BRANCH
from informers import told
from protobufs import MEDIA, message, metadata, time, wrapped
from serving import Running, ended, run, serving

import plinian

PODS = "/api/v1/namespaces/default/pods"
WAITING = f"{PODS}/gpu-2-gpu-0"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
CONFIG = "/api/v1/namespaces/default/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases"
MERGE = {"Content-Type": "application/merge-patch+json"}
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}


@pytest.fixture
def api(writable: Running) -> httpx.Client:
    """Return a client of the server."""
    return writable.client


def bind(api: httpx.Client, pod: str = WAITING, node: str = "node-3") -> httpx.Response:
    """Bind a pod as a scheduler does."""
    target = {"kind": "Node", "name": node}
    return api.post(f"{pod}/binding", json={"kind": "Binding", "target": target})


def events(place: Path) -> list[tuple[str, str, str]]:
    """Return kind, object and actor of the events that were written."""
    with plinian.open(place, branch=BRANCH) as log:
        return [
            (each.event.kind, each.event.reference.name, each.event.actor)
            for each in log.events(after=1901)
            if each.event.kind != "watch.followed"
        ]


def test_a_binding_gives_the_pod_its_node_once(writable: Running, api: httpx.Client) -> None:
    before = api.get(WAITING).json()
    answer = bind(api)
    assert (answer.status_code, answer.json()["status"]) == (201, "Success")
    after = api.get(WAITING).json()
    assert after["spec"]["nodeName"] == "node-3"
    assert ("PodScheduled", "True") in {
        (one["type"], one["status"]) for one in after["status"]["conditions"]
    }
    assert int(after["metadata"]["resourceVersion"]) > int(before["metadata"]["resourceVersion"])
    again = bind(api, node="node-4")
    assert (again.status_code, again.json()["reason"]) == (409, "Conflict")
    assert [(kind, name) for kind, name, _ in events(writable.place)] == [
        ("pod.updated", "gpu-2-gpu-0"),
        ("pod.bound", "gpu-2-gpu-0"),
    ]


def test_an_object_is_created_once_with_what_the_server_fills_in(api: httpx.Client) -> None:
    made = api.post(QUEUES, json={"metadata": {"name": "night"}, "spec": {"weight": 2}})
    assert made.status_code == 201
    found = made.json()
    assert found["kind"] == "Queue"
    assert found["metadata"]["generation"] == 1
    assert set(found["metadata"]) >= {"uid", "creationTimestamp", "resourceVersion"}
    assert api.get(f"{QUEUES}/night").json() == found
    again = api.post(QUEUES, json={"metadata": {"name": "night"}})
    assert (again.status_code, again.json()["reason"]) == (409, "AlreadyExists")
    assert again.json()["message"] == 'queues.scheduling.volcano.sh "night" already exists'


def test_names_can_be_generated(api: httpx.Client) -> None:
    made = [api.post(CONFIG, json={"metadata": {"generateName": "run-"}}) for _ in range(2)]
    names = {one.json()["metadata"]["name"] for one in made}
    assert len(names) == 2
    assert all(name.startswith("run-") and len(name) == 9 for name in names)


def test_equal_content_keeps_the_version_and_is_no_event(
    writable: Running, api: httpx.Client
) -> None:
    held = api.get(f"{QUEUES}/gold").json()
    answer = api.put(f"{QUEUES}/gold", json=held)
    assert answer.status_code == 200
    assert answer.json()["metadata"] == held["metadata"]
    assert api.patch(f"{QUEUES}/gold", json={"spec": held["spec"]}, headers=MERGE).json() == held
    assert events(writable.place) == []


def test_a_stale_update_is_a_conflict(api: httpx.Client) -> None:
    held = api.get(f"{QUEUES}/gold").json()
    newer = {**held, "spec": {**held["spec"], "weight": 7}}
    first, second = (api.put(f"{QUEUES}/gold", json=newer) for _ in range(2))
    assert first.json()["metadata"]["generation"] == held["metadata"]["generation"] + 1
    assert second.status_code == 409
    assert "please apply your changes to the latest version" in second.json()["message"]


def test_a_status_and_the_rest_are_written_separately(api: httpx.Client) -> None:
    held = api.get(f"{QUEUES}/gold").json()
    both = {**held, "spec": {"weight": 9}, "status": {"state": "Closed"}}
    status = api.put(f"{QUEUES}/gold/status", json=both).json()
    assert (status["spec"], status["status"]) == (held["spec"], {"state": "Closed"})
    version = status["metadata"]["resourceVersion"]
    both = {**both, "status": {}, "metadata": {**held["metadata"], "resourceVersion": version}}
    rest = api.put(f"{QUEUES}/gold", json=both).json()
    assert (rest["spec"], rest["status"]) == ({"weight": 9}, {"state": "Closed"})


def test_a_podgroup_has_its_status_from_the_body(api: httpx.Client) -> None:
    held = api.get(GROUPS).json()["items"][0]
    path = f"{GROUPS}/{held['metadata']['name']}"
    held = api.get(path).json()
    made = api.put(path, json={**held, "status": {"phase": "Inqueue", "running": 0}})
    assert made.json()["status"] == {"phase": "Inqueue", "running": 0}
    assert api.put(f"{path}/status", json=made.json()).status_code == 404


def test_patches_of_each_kind(api: httpx.Client) -> None:
    merged = api.patch(WAITING, json={"metadata": {"labels": {"a": "b"}}}, headers=MERGE)
    assert merged.json()["metadata"]["labels"]["a"] == "b"
    operations = [
        {"op": "test", "path": "/metadata/labels/a", "value": "b"},
        {"op": "remove", "path": "/metadata/labels/a"},
    ]
    patched = api.patch(WAITING, json=operations, headers=JSON_PATCH)
    assert "a" not in patched.json()["metadata"]["labels"]
    failed = api.patch(WAITING, json=operations, headers=JSON_PATCH)
    assert failed.status_code == 422
    node = "/api/v1/nodes/node-1"
    taint = {"key": "maintenance", "effect": "NoSchedule"}
    cordoned = api.patch(
        node, json={"spec": {"unschedulable": True, "taints": [taint]}}, headers=STRATEGIC
    ).json()
    assert cordoned["spec"]["unschedulable"] is True
    assert taint in cordoned["spec"]["taints"]
    version = {"metadata": {"resourceVersion": "1"}}
    assert api.patch(WAITING, json=version, headers=MERGE).status_code == 409


def test_an_apply_is_a_merge_and_says_so(api: httpx.Client) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: 'on'}\n"
    first = api.patch(f"{CONFIG}/applied", content=text, headers=APPLY)
    assert (first.status_code, first.json()["data"]) == (201, {"a": "on"})
    assert "treated as a merge" in first.headers["warning"]
    second = api.patch(f"{CONFIG}/applied", content=b"data: {b: x}\n", headers=APPLY)
    assert (second.status_code, second.json()["data"]) == (200, {"a": "on", "b": "x"})


def test_a_pod_on_a_node_ends_after_watches_saw_it_ending(
    writable: Running, api: httpx.Client
) -> None:
    bind(api)
    version = api.get(PODS, params={"limit": 1}).json()["metadata"]["resourceVersion"]
    eviction = {"kind": "Eviction", "metadata": {"name": "gpu-2-gpu-0"}}
    assert api.post(f"{WAITING}/eviction", json=eviction).status_code == 201
    assert [(kind, name) for kind, name, _ in told(api, PODS, resourceVersion=version)] == [
        ("MODIFIED", "gpu-2-gpu-0"),
        ("DELETED", "gpu-2-gpu-0"),
    ]
    assert api.get(WAITING).status_code == 404
    assert [kind for kind, _, _ in events(writable.place)] == [
        "pod.updated",
        "pod.bound",
        "pod.updated",
        "pod.deleted",
    ]


def test_preconditions_of_a_deletion_must_hold(api: httpx.Client) -> None:
    other = {"kind": "DeleteOptions", "preconditions": {"uid": "another"}}
    refused = api.request("DELETE", WAITING, json=other)
    assert (refused.status_code, refused.json()["reason"]) == (409, "Conflict")
    uid = api.get(WAITING).json()["metadata"]["uid"]
    done = api.request("DELETE", WAITING, json={"preconditions": {"uid": uid}})
    assert (done.status_code, done.json()["metadata"]["uid"]) == (200, uid)


def test_a_deletion_is_answered_as_a_server_does(api: httpx.Client) -> None:
    """Typed clients read a pod there, and of most kinds a Status."""
    uid = api.get(WAITING).json()["metadata"]["uid"]
    pod = api.delete(WAITING).json()
    assert (pod["kind"], pod["metadata"]["uid"]) == ("Pod", uid)
    api.post(CONFIG, json={"metadata": {"name": "a"}})
    gone = api.delete(f"{CONFIG}/a").json()
    assert (gone["kind"], gone["status"], gone["details"]["name"]) == ("Status", "Success", "a")


def test_an_object_with_finalizers_goes_when_the_last_one_is_removed(api: httpx.Client) -> None:
    api.post(CONFIG, json={"metadata": {"name": "kept", "finalizers": ["x/y"]}})
    ending = api.delete(f"{CONFIG}/kept").json()
    assert ending["metadata"]["deletionTimestamp"]
    assert api.get(f"{CONFIG}/kept").status_code == 200
    api.patch(f"{CONFIG}/kept", json={"metadata": {"finalizers": None}}, headers=MERGE)
    assert api.get(f"{CONFIG}/kept").status_code == 404


def test_what_an_owner_leaves_behind_is_deleted(api: httpx.Client) -> None:
    owned = [one["metadata"]["name"] for one in api.get(GROUPS).json()["items"] if _owned(one)]
    assert any(name.startswith("big-gang") for name in owned)
    api.delete(f"{JOBS}/big-gang")
    left = [one["metadata"]["name"] for one in api.get(GROUPS).json()["items"]]
    assert not any(name.startswith("big-gang") for name in left)
    assert len(left) == len(owned) - 1


def _owned(one: Any) -> bool:
    return bool(one["metadata"].get("ownerReferences"))


def test_what_is_created_for_an_owner_that_is_gone_does_not_stay(api: httpx.Client) -> None:
    """A controller that is late creates it; the garbage collector deletes it."""
    owner = api.get(f"{JOBS}/big-gang").json()
    reference = {
        **{field: owner[field] for field in ("apiVersion", "kind")},
        **{field: owner["metadata"][field] for field in ("name", "uid")},
    }
    pod = {
        "metadata": {"name": "late", "ownerReferences": [reference]},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    api.delete(f"{JOBS}/big-gang")
    version = api.get(PODS, params={"limit": 1}).json()["metadata"]["resourceVersion"]
    assert api.post(PODS, json=pod).status_code == 201
    assert api.get(f"{PODS}/late").status_code == 404
    seen = [told_[:2] for told_ in told(api, PODS, resourceVersion=version)]
    assert seen == [("ADDED", "late"), ("DELETED", "late")]
    unknown = {**reference, "apiVersion": "other.example/v1", "kind": "Thing", "uid": "nobody"}
    pod["metadata"]["ownerReferences"] = [unknown]
    assert api.post(PODS, json=pod).status_code == 201
    assert api.get(f"{PODS}/late").status_code == 200, "the log knows nothing of its owner"


def test_orphans_stay_without_their_owner(api: httpx.Client) -> None:
    api.request("DELETE", f"{JOBS}/big-gang", json={"propagationPolicy": "Orphan"})
    group = next(one for one in api.get(GROUPS).json()["items"] if "big-gang" in str(one))
    assert not _owned(group)


def test_a_deleted_namespace_takes_its_objects_along(api: httpx.Client) -> None:
    path = "/api/v1/namespaces/night/configmaps"
    assert api.post(path, json={"metadata": {"name": "a"}}).status_code == 201
    assert api.get("/api/v1/namespaces/night").json()["status"]["phase"] == "Active"
    api.delete("/api/v1/namespaces/night")
    assert api.get(f"{path}/a").status_code == 404
    assert api.get("/api/v1/namespaces/night").status_code == 404


def test_a_collection_is_deleted_by_its_labels(api: httpx.Client) -> None:
    for name, team in (("a", "x"), ("b", "x"), ("c", "y")):
        api.post(CONFIG, json={"metadata": {"name": name, "labels": {"team": team}}})
    assert api.delete(CONFIG, params={"labelSelector": "team=x"}).status_code == 200
    left = {one["metadata"]["name"] for one in api.get(CONFIG).json()["items"]}
    assert left & {"a", "b", "c"} == {"c"}


def test_replicas_are_read_and_written_alone(api: httpx.Client) -> None:
    sets = "/apis/apps/v1/namespaces/default/replicasets"
    api.post(sets, json={"metadata": {"name": "web"}, "spec": {"replicas": 1}})
    assert api.get(f"{sets}/web/scale").json()["spec"] == {"replicas": 1}
    made = api.patch(f"{sets}/web/scale", json={"spec": {"replicas": 3}}, headers=MERGE)
    assert (made.json()["kind"], made.json()["spec"]) == ("Scale", {"replicas": 3})
    assert api.get(f"{sets}/web").json()["spec"]["replicas"] == 3
    assert api.get(f"{WAITING}/scale").status_code == 405


def test_a_trial_stores_nothing(writable: Running, api: httpx.Client) -> None:
    dry = {"dryRun": "All"}
    assert api.post(QUEUES, params=dry, json={"metadata": {"name": "dry"}}).status_code == 201
    assert api.delete(f"{QUEUES}/gold", params=dry).status_code == 200
    assert api.get(f"{QUEUES}/dry").status_code == 404
    assert events(writable.place) == []


def test_a_deletion_that_its_body_calls_a_trial_stores_nothing(
    writable: Running, api: httpx.Client
) -> None:
    """Kubectl says it there: ``delete --dry-run=server``, ``drain --dry-run=server``."""
    dry = {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]}
    assert api.request("DELETE", f"{QUEUES}/gold", json=dry).json()["status"] == "Success"
    assert api.request("DELETE", PODS, json=dry).status_code == 200
    eviction = {"metadata": {"name": "gpu-2-gpu-0"}, "deleteOptions": dry}
    assert api.post(f"{WAITING}/eviction", json=eviction).status_code == 201
    other = {**dry, "dryRun": ["Some"]}
    assert api.request("DELETE", f"{QUEUES}/gold", json=other).status_code == 400
    assert api.post(QUEUES, params={"dryRun": "Some"}, json={}).status_code == 400
    assert api.get(f"{QUEUES}/gold").status_code == api.get(WAITING).status_code == 200
    assert events(writable.place) == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"metadata": {"name": "Upper"}}, 422),
        ({"metadata": {"name": "a", "resourceVersion": "3"}}, 400),
        ({"metadata": {"name": "a", "namespace": "other"}}, 400),
        ({"metadata": {"name": "a", "labels": {"x": 1}}}, 422),
        ({"metadata": {"name": "a"}, "kind": "Node"}, 400),
        ({"metadata": {"name": "a"}, "spec": {"containers": "none"}}, 422),
        ([], 400),
        ({}, 422),
    ],
)
def test_what_no_object_can_be_is_refused(
    writable: Running, api: httpx.Client, body: Any, code: int
) -> None:
    assert api.post(PODS, json=body).status_code == code
    assert events(writable.place) == []


def test_a_typed_client_writes_leases_and_status_in_protobuf(
    writable: Running, api: httpx.Client
) -> None:
    spec = message((1, "me"), (2, 15), (3, time(1_795_226_000)), (4, time(1_795_226_000)), (5, 0))
    body = message((1, metadata("volcano", "volcano-system")), (2, spec))
    headers = {"Content-Type": MEDIA, "User-Agent": "vc-scheduler/v0 (linux)"}
    lease = wrapped("coordination.k8s.io/v1", "Lease", body)
    made = api.post(LEASES, content=lease, headers=headers)
    assert (made.status_code, made.json()["spec"]["holderIdentity"]) == (201, "me")
    assert api.post(LEASES, content=lease, headers=headers).status_code == 409
    stale = message((1, metadata("gpu-2-gpu-0", "default", "1")), (3, message((1, "Running"))))
    pod = wrapped("v1", "Pod", stale)
    assert api.put(f"{WAITING}/status", content=pod, headers=headers).status_code == 409
    version = api.get(WAITING).json()["metadata"]["resourceVersion"]
    fresh = message((1, metadata("gpu-2-gpu-0", "default", version)), (3, message((1, "Running"))))
    done = api.put(f"{WAITING}/status", content=wrapped("v1", "Pod", fresh), headers=headers)
    assert (done.status_code, done.json()["status"]) == (200, {"phase": "Running"})
    assert done.json()["spec"]["containers"]
    options = wrapped("v1", "DeleteOptions", message((1, 0)))
    assert api.request("DELETE", WAITING, content=options, headers=headers).status_code == 200
    assert {actor for _, _, actor in events(writable.place)} == {"vc-scheduler"}


def test_an_event_is_the_same_in_both_groups(writable: Running, api: httpx.Client) -> None:
    core = "/api/v1/namespaces/default/events"
    new = "/apis/events.k8s.io/v1/namespaces/default/events"
    about = {"kind": "Pod", "name": "gpu-2-gpu-0", "namespace": "default"}
    made = {"metadata": {"name": "e.1"}, "involvedObject": about, "reason": "Tried", "count": 1}
    assert api.post(core, json=made).status_code == 201
    counted = api.patch(f"{new}/e.1", json={"deprecatedCount": 2}, headers=STRATEGIC)
    assert counted.json()["regarding"] == about
    assert api.get(f"{core}/e.1").json()["count"] == 2
    assert [kind for kind, _, _ in events(writable.place)] == ["event.created", "event.updated"]


def test_every_command_reads_what_was_written(writable: Running, api: httpx.Client) -> None:
    bind(api)
    place = str(writable.place)
    told_ = run("diff", "@1901", BRANCH, "--log", place, "--kind", "pods").stdout
    assert "gpu-2-gpu-0" in told_
    why = run("why", "pod/gpu-2-gpu-0", "--log", place, "--branch", BRANCH).stdout
    assert "bound to node node-3" in why
    assert run("verify", "--log", place, "--branch", BRANCH).returncode == 0


def test_a_server_that_starts_again_continues_the_branch(branched: Path) -> None:
    first = serving(branched, "--branch", BRANCH, "--writable")
    assert bind(first.client).status_code == 201
    version = first.client.get(WAITING).json()["metadata"]["resourceVersion"]
    ended(first)
    second = serving(branched, "--branch", BRANCH, "--writable")
    assert second.client.get(WAITING).json()["metadata"]["resourceVersion"] == version
    made = second.client.post(QUEUES, json={"metadata": {"name": "later"}}).json()
    assert int(made["metadata"]["resourceVersion"]) > int(version)
    ended(second)
    # Nothing is unknown after what was written: the branch has all of it.
    known = run("get", "pods", "--strict", "--log", str(branched), "--branch", BRANCH)
    assert known.returncode == 0, known.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--writable",), "only a branch can be written"),
        (("--writable", "--branch", "main"), "only a branch can be written"),
        (("--writable", "--branch", BRANCH, "--at", "@1901"), "--writable and --at exclude"),
        (("--writable", "--branch", BRANCH, "--play", "10x"), "--writable and --play exclude"),
        (
            ("--writable", "--branch", BRANCH, "--shift-times", "now"),
            "--writable and --shift-times",
        ),
        (("--writable", "--branch", "nowhere"), "there is no branch 'nowhere'"),
    ],
)
def test_what_cannot_be_written_is_refused_at_the_start(
    branched: Path, options: tuple[str, ...], said: str
) -> None:
    answer = run("serve", "--log", str(branched), "--port", "0", *options)
    assert answer.returncode == 2
    assert said in answer.stderr


def test_moments_in_paths_stay_as_they_were(api: httpx.Client) -> None:
    refused = bind(api, f"/at/@1901{WAITING}")
    assert refused.status_code == 405
    assert bind(api).status_code == 201
    assert "nodeName" not in api.get(f"/at/@1901{WAITING}").json()["spec"]


def test_clients_are_told_what_can_be_written(api: httpx.Client) -> None:
    found = api.get("/api/v1").json()["resources"]
    verbs = {one["name"]: set(one["verbs"]) for one in found}
    assert verbs["pods"] >= {"get", "watch", "create", "update", "patch", "delete"}
    assert verbs["pods/binding"] == verbs["pods/eviction"] == {"create"}
    (eviction,) = (one for one in found if one["name"] == "pods/eviction")
    assert (eviction["group"], eviction["kind"]) == ("policy", "Eviction")
    scales = [one["name"] for one in api.get("/apis/apps/v1").json()["resources"]]
    assert "deployments/scale" in scales
    wanted = {"verb": "create", "resource": "pods", "subresource": "binding"}
    review = {"spec": {"resourceAttributes": wanted}}
    reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert api.post(reviews, json=review).json()["status"] == {"allowed": True}


def test_kubectl_apply_finds_the_parameters_that_it_needs(api: httpx.Client) -> None:
    paths = api.get("/openapi/v3/apis/apps/v1").json()["paths"]
    patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert {"fieldValidation", "dryRun"} <= {one["name"] for one in patch["parameters"]}
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "Deployment"


def test_what_has_no_objects_yet_is_an_empty_list(api: httpx.Client) -> None:
    for path in (
        "/apis/topology.volcano.sh/v1alpha1/hypernodes",
        "/apis/nodeinfo.volcano.sh/v1alpha1/numatopologies",
        "/apis/shard.volcano.sh/v1alpha1/nodeshards",
        "/apis/config.volcano.sh/v1alpha1/colocationconfigurations",
        "/apis/policy/v1/poddisruptionbudgets",
    ):
        assert api.get(path).json()["items"] == []


def test_a_definition_that_is_created_is_served_at_once(api: httpx.Client) -> None:
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    versions = [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}}]
    spec = {
        "group": "zoo.example",
        "scope": "Namespaced",
        "names": {"kind": "Cat", "plural": "cats"},
        "versions": versions,
    }
    cats = "/apis/zoo.example/v1/namespaces/default/cats"
    assert api.get(cats).status_code == 404
    made = api.post(definitions, json={"metadata": {"name": "cats.zoo.example"}, "spec": spec})
    assert made.status_code == 201
    assert (
        api.post(cats, json={"metadata": {"name": "tom"}, "status": {"a": 1}}).json()["kind"]
        == "Cat"
    )
    assert "status" not in api.get(f"{cats}/tom").json()


def test_the_content_of_a_secret_is_never_stored(writable: Running, api: httpx.Client) -> None:
    path = "/api/v1/namespaces/default/secrets"
    made = api.post(path, json={"metadata": {"name": "s"}, "data": {"key": "aHVudGVyMg=="}})
    assert made.status_code == 201
    assert "data" not in made.json()
    assert b"aHVudGVyMg" not in writable.place.read_bytes()

"""The API server as data: what it fills in, what it refuses, and what its watches deliver."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.kubernetes.api_errors import AlreadyExists, Conflict, Invalid, NotFound, Refused
from plinian.engine.kubernetes.api_server import ADDED, DELETED, MODIFIED, ApiServer
from plinian.engine.kubernetes.json_patch import JSON_PATCH, added, replaced


def pod(name: str = "a", **spec: Any) -> dict[str, Any]:
    """Return a pod."""
    return {"kind": "Pod", "metadata": {"name": name, "namespace": "ml"}, "spec": spec}


def verbs(server: ApiServer) -> list[str]:
    """Return what watches are to deliver, in short."""
    return [f"{change.verb} {change.key}" for change in server.take_changes()]


def test_an_object_gets_a_uid_a_version_and_a_creation_time() -> None:
    server = ApiServer()
    made = server.create(pod())["metadata"]
    assert (made["uid"], made["resourceVersion"]) == ("pod-ml-a-1", "1")
    assert made["creationTimestamp"] < server.create(pod("b"))["metadata"]["creationTimestamp"]
    assert verbs(server) == [f"{ADDED} ml/a", f"{ADDED} ml/b"]


def test_an_object_that_is_created_again_has_another_uid_and_a_later_version() -> None:
    server = ApiServer()
    first = server.create(pod())["metadata"]
    with pytest.raises(AlreadyExists):
        server.create(pod())
    server.delete("Pod", "ml/a")
    second = server.create(pod())["metadata"]
    assert second["uid"] != first["uid"]
    assert int(second["resourceVersion"]) > int(first["resourceVersion"]) + 1
    assert verbs(server) == [f"{ADDED} ml/a", f"{DELETED} ml/a", f"{ADDED} ml/a"]


def test_an_update_must_name_the_newest_version() -> None:
    server = ApiServer()
    made = server.create(pod())
    server.patch("Pod", "ml/a", {"metadata": {"labels": {"x": "1"}}})
    with pytest.raises(Conflict):
        server.update(made)
    with pytest.raises(NotFound):
        server.update(pod("other"))


def test_an_update_leaves_the_status_and_a_status_update_leaves_the_rest() -> None:
    server = ApiServer()
    server.create({**pod(), "status": {"phase": "Pending"}})
    server.update({**pod(nodeName="n1"), "status": {"phase": "Running"}})
    assert server.get("Pod", "ml/a")["status"] == {"phase": "Pending"}
    server.update({**pod(), "status": {"phase": "Running"}}, status=True)
    held = server.get("Pod", "ml/a")
    assert (held["spec"], held["status"]) == ({"nodeName": "n1"}, {"phase": "Running"})


def test_a_podgroup_has_no_status_subresource() -> None:
    server = ApiServer()
    group = {"kind": "PodGroup", "metadata": {"name": "g", "namespace": "ml"}, "spec": {}}
    server.create(group)
    server.update({**group, "status": {"phase": "Inqueue"}})
    assert server.get("PodGroup", "ml/g")["status"] == {"phase": "Inqueue"}


def test_a_write_that_changes_nothing_is_no_event() -> None:
    server = ApiServer()
    server.create(pod())
    server.take_changes()
    server.patch("Pod", "ml/a", {"spec": {}})
    assert verbs(server) == []


def test_a_pod_on_a_node_ends_later_and_others_at_once() -> None:
    server = ApiServer()
    server.create(pod("waits"))
    server.create(pod("runs", nodeName="n1", terminationGracePeriodSeconds=7))
    server.take_changes()
    server.delete("Pod", "ml/waits")
    server.delete("Pod", "ml/runs")
    server.delete("Pod", "ml/runs")
    assert verbs(server) == [f"{DELETED} ml/waits", f"{MODIFIED} ml/runs"]
    assert server.get("Pod", "ml/runs")["metadata"]["deletionGracePeriodSeconds"] == 7
    server.delete("Pod", "ml/runs", grace=0)
    assert verbs(server) == [f"{DELETED} ml/runs"]


def test_an_object_with_finalizers_goes_when_the_last_one_is_gone() -> None:
    server = ApiServer()
    server.create({"kind": "Queue", "metadata": {"name": "q", "finalizers": ["x"]}})
    server.delete("Queue", "q")
    held = server.get("Queue", "q")
    assert "deletionTimestamp" in held["metadata"]
    server.update({**held, "metadata": {**held["metadata"], "finalizers": []}})
    assert server.find("Queue", "q") is None


def test_a_deletion_names_what_it_means() -> None:
    server = ApiServer()
    made = server.create(pod())["metadata"]
    with pytest.raises(Conflict):
        server.delete("Pod", "ml/a", uid="another")
    with pytest.raises(Conflict):
        server.delete("Pod", "ml/a", version="7")
    server.delete("Pod", "ml/a", uid=made["uid"], version=made["resourceVersion"])
    assert server.find("Pod", "ml/a") is None


def test_a_pod_is_bound_once() -> None:
    server = ApiServer()
    server.create(pod())
    server.bind("ml/a", "n1")
    with pytest.raises(Conflict):
        server.bind("ml/a", "n2")
    server.create(pod("b"))
    with pytest.raises(Conflict):
        server.bind("ml/b", "n1", uid="another")
    assert server.get("Pod", "ml/a")["spec"]["nodeName"] == "n1"


ACTS = st.lists(
    st.tuples(st.sampled_from(["create", "delete", "patch", "bind"]), st.integers(0, 2))
)


def act(server: ApiServer, what: str, number: int) -> None:
    """Make a write; one that is refused changes nothing."""
    key, before = f"ml/p{number}", server.kept()
    try:
        if what == "create":
            server.create(pod(f"p{number}"))
        elif what == "delete":
            server.delete("Pod", key)
        elif what == "bind":
            server.bind(key, "n1")
        else:
            server.patch("Pod", key, {"metadata": {"labels": {"x": what}}})
    except Refused:
        assert server.kept() == before


@given(ACTS)
def test_a_server_made_of_what_another_held_goes_on_like_it(acts: list[tuple[str, int]]) -> None:
    one = ApiServer()
    for what, number in acts:
        other = ApiServer(one.kept())
        one.take_changes()
        act(one, what, number)
        act(other, what, number)
        assert one.kept() == other.kept()
        assert one.changes == other.changes


@given(ACTS, st.integers(0, 2))
def test_writes_to_other_objects_lead_to_the_same_versions(
    acts: list[tuple[str, int]], number: int
) -> None:
    alone, among = ApiServer(), ApiServer()
    for what, one in acts:
        act(among, what, one)
        if one == number:
            act(alone, what, one)
    key = f"ml/p{number}"
    mine, theirs = alone.find("Pod", key), among.find("Pod", key)
    assert (mine is None) == (theirs is None)
    if mine is not None and theirs is not None:
        assert mine["metadata"]["resourceVersion"] == theirs["metadata"]["resourceVersion"]
        assert mine["metadata"]["uid"] == theirs["metadata"]["uid"]


def test_jobs_of_volcano_and_of_kubernetes_have_places_of_their_own() -> None:
    server = ApiServer()
    for api in ("batch/v1", "batch.volcano.sh/v1alpha1"):
        metadata = {"name": "a", "namespace": "ml"}
        server.create({"apiVersion": api, "kind": "Job", "metadata": metadata, "spec": {}})
    assert server.get("Job", "ml/a")["apiVersion"] == "batch.volcano.sh/v1alpha1"
    assert server.get("Job.batch", "ml/a")["apiVersion"] == "batch/v1"
    assert len(server.list("Job")) == 1


def test_a_pod_is_pending_until_something_else_is_written() -> None:
    server = ApiServer()
    assert server.create(pod())["status"] == {"phase": "Pending"}


@pytest.mark.parametrize(
    ("meant", "refused"),
    [
        ({}, False),
        ({"uid": "pod-ml-a-1", "resourceVersion": "1"}, False),
        ({"uid": "pod-ml-a-2"}, True),
        ({"resourceVersion": "9"}, True),
    ],
)
def test_a_patch_may_name_the_object_that_it_means(meant: dict[str, str], *, refused: bool) -> None:
    server = ApiServer()
    made = server.create(pod("a"))
    part = {"metadata": {**meant, "labels": {"x": "1"}}}
    with pytest.raises(Conflict) if refused else nullcontext():
        server.patch("Pod", "ml/a", part)
    held = server.get("Pod", "ml/a")
    assert held["metadata"]["uid"] == made["metadata"]["uid"]
    assert ("labels" in held["metadata"]) is not refused


def test_a_json_patch_writes_fields_and_needs_what_they_are_in() -> None:
    server = ApiServer()
    server.create(pod())
    label = [added(("metadata", "labels"), {"x": "1"})]
    server.patch("Pod", "ml/a", label, how=JSON_PATCH)
    other = [replaced(("metadata", "labels", "a/b~c"), "2")]
    assert other[0]["path"] == "/metadata/labels/a~1b~0c"
    held = server.patch("Pod", "ml/a", other, how=JSON_PATCH)
    assert held["metadata"]["labels"] == {"x": "1", "a/b~c": "2"}
    with pytest.raises(Invalid):
        server.patch("Pod", "ml/a", [added(("status", "x", "y"), "z")], how=JSON_PATCH)

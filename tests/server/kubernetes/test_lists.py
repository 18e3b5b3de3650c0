"""Lists and objects of the past are those that the log holds, in every form."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from informers import METADATA, TABLE
from serving import Running

import plinian
from plinian.replay.facade.log import opened
from plinian.replay.server.kubernetes.read import lists
from plinian.replay.server.kubernetes.read.cluster_state import ClusterState, KeptStates
from plinian.replay.server.kubernetes.read.lists import page_of
from plinian.replay.server.kubernetes.wire.list_options import asked_of
from tree import ROOT

PODS = "/api/v1/pods"
RECORDED = json.loads(gzip.decompress((ROOT / "tests/data/api-answers.json.gz").read_bytes()))

PATHS = {
    ("", "Pod"): PODS,
    ("", "Node"): "/api/v1/nodes",
    ("", "Event"): "/api/v1/events",
    ("", "Namespace"): "/api/v1/namespaces",
    ("batch.volcano.sh", "Job"): "/apis/batch.volcano.sh/v1alpha1/jobs",
    ("scheduling.volcano.sh", "Queue"): "/apis/scheduling.volcano.sh/v1beta1/queues",
    ("scheduling.volcano.sh", "PodGroup"): "/apis/scheduling.volcano.sh/v1beta1/podgroups",
    ("scheduling.k8s.io", "PriorityClass"): "/apis/scheduling.k8s.io/v1/priorityclasses",
}


def got(server: Running, path: str, accept: str = "", **query: Any) -> Any:
    """Return what the server answers."""
    answer = server.client.get(path, params=query, headers={"Accept": accept or "*/*"})
    assert answer.status_code == 200, answer.text
    return answer.json()


def names(answer: Any) -> list[str]:
    """Return the names of the objects of a list."""
    return [one["metadata"]["name"] for one in answer["items"]]


@pytest.mark.parametrize("at", ["end", "rv:391", "@3000", "2026-11-21T01:53:36Z"])
def test_every_list_is_what_the_log_holds(server: Running, at: str) -> None:
    with plinian.open(server.place, read_only=True) as log:
        for kind, path in PATHS.items():
            answer = got(server, f"/at/{at}{path}")
            assert answer["kind"] == f"{kind[1]}List"
            assert answer["items"] == log.get(kind, at=at), kind


def test_the_revision_of_a_list_is_that_of_the_whole_cluster(server: Running) -> None:
    assert got(server, f"/at/rv:391{PODS}")["metadata"] == {"resourceVersion": "391"}
    whole = got(server, "/api/v1/nodes")["metadata"]["resourceVersion"]
    assert got(server, f"/at/rv:99999999{PODS}")["metadata"]["resourceVersion"] == whole
    assert whole == "2059", "the last revision of the log, which is of no node"


def test_large_tables_need_few_pages(monkeypatch: pytest.MonkeyPatch, demo_log: Path) -> None:
    """Kubectl waits before each page after the tenth; lists in JSON keep the limit."""
    monkeypatch.setattr(lists, "_LARGE_PAGE", 4)
    with opened(demo_log, read_only=True, branch="main", cluster=None) as log:
        state = ClusterState(log, log.moment("end"), KeptStates())
        pods = state.catalog.find("", "v1", "pods")
        assert pods is not None
        for accept, limit, sizes in (
            (TABLE, 4, [4, 35]),
            (TABLE, 3, [3] * 13),
            ("application/json", 4, [4] * 9 + [3]),
        ):
            query, found, seen = {"limit": str(limit)}, [], list[str]()
            while not seen or "continue" in query:
                page = page_of(state, pods, asked_of(pods, "", query, accept))
                found.append(len(page.entries))
                seen += [entry.reference.uid for entry in page.entries]
                query = {"limit": str(limit)}
                if "continue" in page.metadata:
                    query["continue"] = str(page.metadata["continue"])
            assert found == sizes
            assert seen == [entry.reference.uid for entry in state.of(("", "Pod"))]


def test_pages_make_up_the_list_even_if_each_is_asked_for_at_another_moment(
    server: Running,
) -> None:
    whole = names(got(server, f"/at/rv:391{PODS}"))
    found, query = [], {"limit": "5"}
    while True:
        page = got(server, f"/at/rv:{391 + len(found)}{PODS}", **query)
        assert page["metadata"]["resourceVersion"] == "391"
        found += names(page)
        if "continue" not in page["metadata"]:
            break
        assert page["metadata"]["remainingItemCount"] == len(whole) - len(found)
        query["continue"] = page["metadata"]["continue"]
    assert found == whole
    assert len(whole) > 10


def test_a_page_goes_on_at_no_other_revision(server: Running) -> None:
    first = got(server, PODS, limit="3")["metadata"]
    query = {"limit": "3", "continue": first["continue"]}
    assert got(server, PODS, **query, resourceVersion="0")["items"]
    answer = server.client.get(PODS, params={**query, "resourceVersion": "100"})
    assert answer.status_code == 400
    said = "specifying resource version is not allowed when using continue"
    assert answer.json()["message"] == said


def test_a_revision_can_be_asked_for_exactly(server: Running) -> None:
    asked = {"resourceVersion": "391", "resourceVersionMatch": "Exact"}
    assert got(server, PODS, **asked) == got(server, f"/at/rv:391{PODS}")
    assert got(server, PODS, resourceVersion="391") == got(server, PODS)


def test_a_revision_of_the_future_is_not_waited_for(server: Running) -> None:
    answer = server.client.get(f"/at/rv:391{PODS}", params={"resourceVersion": "392"})
    assert answer.status_code == 504
    status = answer.json()
    assert status["reason"] == "Timeout"
    assert status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


def test_labels_and_fields_select_as_the_command_line_does(server: Running) -> None:
    chosen = {
        "labelSelector": "volcano.sh/task-spec in (worker,gpu)",
        "fieldSelector": "status.phase!=Running,spec.nodeName=",
    }
    with plinian.open(server.place, read_only=True) as log:
        wanted = log.get(
            "pods",
            at="rv:391",
            selector=chosen["labelSelector"],
            fields=chosen["fieldSelector"],
        )
    found = got(server, f"/at/rv:391{PODS}", **chosen)["items"]
    assert found == wanted
    assert 0 < len(found) < len(got(server, f"/at/rv:391{PODS}")["items"])


def test_events_are_found_by_what_they_are_about(server: Running) -> None:
    all_events = got(server, "/api/v1/events")["items"]
    name = all_events[0]["involvedObject"]["name"]
    found = got(server, "/api/v1/events", fieldSelector=f"involvedObject.name={name}")["items"]
    assert found == [one for one in all_events if one["involvedObject"]["name"] == name]
    new = "/apis/events.k8s.io/v1/events"
    again = got(server, new, fieldSelector=f"regarding.name={name}")["items"]
    assert [one["metadata"]["uid"] for one in again] == [one["metadata"]["uid"] for one in found]


def test_events_of_both_groups_are_the_same_objects(server: Running) -> None:
    old = got(server, "/api/v1/events")["items"]
    new = got(server, "/apis/events.k8s.io/v1/events")["items"]
    assert len(old) == len(new)
    for one, other in zip(old, new, strict=True):
        assert other["apiVersion"] == "events.k8s.io/v1"
        assert other["metadata"] == one["metadata"]
        assert other["note"] == one["message"]
        assert other["regarding"] == one["involvedObject"]
        assert "involvedObject" not in other


def test_a_table_has_the_columns_that_a_real_server_printed(server: Running) -> None:
    table = got(server, PATHS["scheduling.volcano.sh", "PodGroup"], TABLE)
    assert table["columnDefinitions"] == RECORDED["table"]["columnDefinitions"]
    assert table.keys() == {*RECORDED["table"].keys()}
    row, recorded = table["rows"][0], RECORDED["table"]["rows"][0]
    assert [type(cell) for cell in row["cells"]] == [type(cell) for cell in recorded["cells"]]
    assert row["object"].keys() == recorded["object"].keys()


def test_metadata_alone_has_the_shape_that_a_real_server_gave(server: Running) -> None:
    found = got(server, PODS, METADATA.format("List"), limit=2)
    assert found.keys() == RECORDED["metadata"].keys()
    assert (found["kind"], found["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    whole = got(server, PODS, limit=2)["items"]
    for one, object_ in zip(found["items"], whole, strict=True):
        assert one == {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": object_["metadata"],
        }


def test_ages_are_those_of_the_moment(server: Running) -> None:
    path = "/at/2026-11-21T01:53:36Z/api/v1/nodes"
    table = got(server, path, TABLE)
    heads = [one["name"] for one in table["columnDefinitions"]]
    ages = {row["cells"][heads.index("Age")] for row in table["rows"]}
    with plinian.open(server.place, read_only=True) as log:
        nodes = log.get("nodes", at="2026-11-21T01:53:36Z")
    assert {one["metadata"]["creationTimestamp"] for one in nodes} == {"2026-11-21T01:52:52Z"}
    assert ages == {"44s"}


@pytest.mark.parametrize(("include", "keys"), [("None", None), ("Object", {"spec", "status"})])
def test_rows_hold_as_much_of_the_object_as_was_asked_for(
    server: Running, include: str, keys: set[str] | None
) -> None:
    row = got(server, PODS, TABLE, includeObject=include)["rows"][0]
    assert row["object"] is None if keys is None else keys <= row["object"].keys()


def test_one_object_is_answered_in_every_form(server: Running) -> None:
    path = "/api/v1/nodes/node-1"
    whole = got(server, path)
    assert whole == next(
        one for one in got(server, "/api/v1/nodes")["items"] if one["metadata"]["name"] == "node-1"
    )
    assert got(server, f"{path}/status") == whole
    assert got(server, path, METADATA.format(""))["metadata"] == whole["metadata"]
    assert len(got(server, path, TABLE)["rows"]) == 1


def test_what_does_not_exist_is_said_as_an_api_server_says_it(server: Running) -> None:
    answer = server.client.get("/apis/scheduling.volcano.sh/v1beta1/queues/nope")
    assert answer.status_code == 404
    assert answer.json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'queues.scheduling.volcano.sh "nope" not found',
        "reason": "NotFound",
        "details": {"name": "nope", "group": "scheduling.volcano.sh", "kind": "queues"},
        "code": 404,
    }


def test_a_kind_without_objects_is_an_empty_list(server: Running) -> None:
    found = got(server, "/apis/storage.k8s.io/v1/csinodes")
    assert (found["kind"], found["items"]) == ("CSINodeList", [])


def test_a_client_is_warned_of_what_the_log_does_not_know(server: Running) -> None:
    warned = server.client.get("/at/rv:100/api/v1/pods").headers["Warning"]
    assert warned.startswith('299 plinian "pods')
    assert "not known between rv:1" in warned
    assert "Warning" not in server.client.get("/at/rv:391/api/v1/pods").headers
    assert "Secrets" in server.client.get("/api/v1/secrets").headers["Warning"]
    never = server.client.get("/apis/coordination.k8s.io/v1/leases").headers["Warning"]
    assert "no object of this kind, and no input that would show one" in never


def test_what_cannot_change_may_be_kept(server: Running) -> None:
    kept = server.client.get("/at/@3000/api/v1/pods").headers["Cache-Control"]
    assert "immutable" in kept
    for path in ("/at/rv:391/api/v1/pods", "/api/v1/pods", "/at/end/api/v1/pods"):
        assert "no-cache" in server.client.get(path).headers["Cache-Control"]

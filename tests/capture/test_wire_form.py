"""The model of an API server writes what a real one wrote, and a recorder reads both."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from api_store import CONTROLLER, POD, ApiStore
from model_api_server import Asked, Fault, ModelApiServer
from recorded_streams import ScriptedAccess, recorded_kind, streamed

from clusters import recorded
from plinian.replay.capture.cluster_access import ServerRefusal, whole
from plinian.replay.capture.recorded_kinds import RECORDED
from plinian.replay.capture.served_kinds import (
    METADATA_ONLY,
    ServedKind,
    index_at,
    list_lines,
    served_kind,
)

FILE = "api-server-v1.34.4.json.gz"
_TOKEN = re.compile(r'"continue":"(\\.|[^"\\])*"')


@pytest.fixture(scope="module")
def answers() -> Mapping[str, Any]:
    """Return what a real API server answered, by what was asked."""
    told: Mapping[str, Any] = json.loads(recorded(FILE))["answers"]
    return told


def body(answers: Mapping[str, Any], name: str) -> bytes:
    text: str = answers[name]["body"]
    return text.encode()


@pytest.fixture
def store(answers: Mapping[str, Any]) -> ApiStore:
    """Return a store with the objects of the recording, as they were at first."""
    made = ApiStore()
    for line in body(answers, "streamed list").splitlines():
        watched = json.loads(line)
        if watched["type"] == "ADDED":
            document = watched["object"]
            made.put("ADDED", POD, document, int(document["metadata"]["resourceVersion"]))
    return made


def change(store: ApiStore, answers: Mapping[str, Any]) -> None:
    """Let happen what happened in the recording."""
    for line in body(answers, "watch").splitlines():
        watched = json.loads(line)
        document = watched["object"]
        revision = int(document["metadata"].get("resourceVersion"))
        if revision > store.revision and watched["type"] != "BOOKMARK":
            store.put(watched["type"], POD, document, revision)


def answered(server: ModelApiServer, answer: Mapping[str, Any]) -> str:
    query = answer["query"]
    if "continue" in query:
        first = server.answer(Asked(answer["path"], {"limit": query["limit"]}))
        token = json.loads(b"".join(first))["metadata"]["continue"]
        query = {**query, "continue": token}
    asked = Asked(answer["path"], query, answer["accept"])
    return _TOKEN.sub('"continue":"…"', b"".join(server.answer(asked)).decode())


def expected(answer: Mapping[str, Any]) -> str:
    return _TOKEN.sub('"continue":"…"', answer["body"])


@pytest.mark.parametrize("name", ["first page", "last page"])
def test_pages(answers: Mapping[str, Any], store: ApiStore, name: str) -> None:
    listed = json.loads(answers[name]["body"])["metadata"]
    store.elsewhere(int(listed["resourceVersion"]) - store.revision)
    assert answered(ModelApiServer(store), answers[name]) == expected(answers[name])


def test_a_list_by_a_watch(answers: Mapping[str, Any], store: ApiStore) -> None:
    written = answered(ModelApiServer(store), answers["streamed list"]).splitlines()
    assert written[:4] == expected(answers["streamed list"]).splitlines()


def test_changes(answers: Mapping[str, Any], store: ApiStore) -> None:
    change(store, answers)
    written = answered(ModelApiServer(store), answers["watch"]).splitlines()
    real = expected(answers["watch"]).splitlines()
    assert [json.loads(line)["type"] for line in real] == [
        *("ADDED", "MODIFIED", "MODIFIED", "DELETED")
    ]
    assert written[: len(real)] == real


@pytest.mark.parametrize("name", ["exact", "exact one", "exact none", "metadata only"])
def test_lists_of_a_moment(answers: Mapping[str, Any], store: ApiStore, name: str) -> None:
    assert answers["metadata only"]["accept"] == METADATA_ONLY
    change(store, answers)
    assert answered(ModelApiServer(store), answers[name]) == expected(answers[name])


@pytest.mark.parametrize("name", ["empty page", "empty streamed list"])
def test_kinds_without_objects(answers: Mapping[str, Any], store: ApiStore, name: str) -> None:
    revision = int(re.findall(r'"resourceVersion":"(\d+)"', answers[name]["body"])[0])
    store.elsewhere(revision - store.revision)
    server = ModelApiServer(store, (POD, CONTROLLER))
    real = expected(answers[name]).splitlines()
    assert answered(server, answers[name]).splitlines()[: len(real)] == real


def test_bookmarks(answers: Mapping[str, Any], store: ApiStore) -> None:
    reached = re.findall(r'"resourceVersion":"(\d+)"', answers["quiet watch"]["body"])[-1]
    store.elsewhere(int(reached) - store.revision)
    real = set(expected(answers["quiet watch"]).splitlines())
    assert set(answered(ModelApiServer(store), answers["quiet watch"]).splitlines()) == real


@pytest.mark.parametrize("name", ["expired list", "expired page", "future list", "no kind"])
def test_refusals(answers: Mapping[str, Any], store: ApiStore, name: str) -> None:
    answer = answers[name]
    query = {**answer["query"]}
    if "continue" in query:
        query["continue"] = json.dumps({"rv": store.revision, "start": ["default", "p-1"]})
    real = json.loads(answer["body"])
    now = re.findall(r"current: (\d+)", real["message"])
    store.elsewhere(int(now[0]) - store.revision if now else 5)
    store.compact()
    with pytest.raises(ServerRefusal) as refused:
        ModelApiServer(store).answer(Asked(answer["path"], query))
    assert refused.value.code == answer["status"]
    assert refused.value.what == real["message"][: len(refused.value.what)]
    after = answer["retry_after"]
    assert refused.value.retry_after == (None if after is None else float(after))


def test_a_watch_that_expired(answers: Mapping[str, Any], store: ApiStore) -> None:
    answer = answers["expired watch"]
    now = int(re.findall(r"\((\d+)\)", answer["body"])[0])
    store.elsewhere(now - store.revision)
    server = ModelApiServer(store)
    server.restart()
    assert answered(server, answer) == answer["body"]


def test_a_group_that_is_not_there(answers: Mapping[str, Any], store: ApiStore) -> None:
    with pytest.raises(ServerRefusal) as refused:
        ModelApiServer(store, (POD,)).answer(Asked(answers["no group"]["path"], {}))
    assert refused.value.code == answers["no group"]["status"]


def test_the_real_bytes_are_read(answers: Mapping[str, Any], store: ApiStore) -> None:
    pods = ServedKind(recorded_kind(POD), "v1")
    revisions = [change.revision for change in store.after(POD, 0)]
    told = ScriptedAccess([body(answers, "first page")], [body(answers, "last page")])
    lines = list(list_lines(told, pods, ""))
    assert [json.loads(line)["type"] for line in lines] == ["ADDED"] * 3 + ["BOOKMARK"]
    assert b"".join(lines[:3]) == b"".join(
        body(answers, "streamed list").splitlines(keepends=True)[:3]
    )
    index = index_at(ScriptedAccess([body(answers, "metadata only")]), pods, "", 201)
    assert sorted(each.revision for each in index.by_uid.values()) == revisions[:2]
    stream = [[body(answers, name)] for name in ("streamed list", "watch", "quiet watch")]
    run = streamed(ScriptedAccess(*stream), recorded_kind(POD))
    # The changes are those since the second pod: the third one was in the list already.
    assert run.kinds[:4] == ["pod.observed"] * 3 + ["list.observed"]
    assert "pod.deleted" in run.kinds
    assert run.state.malformed == 0


def test_the_discovery_of_a_real_server_is_read(answers: Mapping[str, Any]) -> None:
    kind = next(each for each in RECORDED if each.kind == "PriorityClass")
    told = ScriptedAccess([body(answers, "group")], [body(answers, "resources")])
    served = served_kind(told, kind)
    assert served is not None
    assert served.path() == "/apis/scheduling.k8s.io/v1/priorityclasses"


def test_a_body_of_the_model_ends_where_a_fault_says(store: ApiStore) -> None:
    server = ModelApiServer(store)
    server.faults.append(Fault(cut=10, ends=True))
    assert len(whole(server, "/api/v1/pods", {"limit": "2"})) == 10

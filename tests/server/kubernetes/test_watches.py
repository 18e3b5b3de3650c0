"""Watches say what happened, in order, and end in the state that lists show."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from informers import METADATA, PODS, TABLE, Informer, lines, listed, told, until, version
from serving import Running, ended, serving

import plinian
from plinian.replay.facade.log import opened
from plinian.replay.server.kubernetes.read.cluster_state import ClusterState, KeptStates
from plinian.replay.server.kubernetes.watch import resource_changes as changes
from plinian.replay.server.kubernetes.watch.follower import WatchFollower
from plinian.replay.server.kubernetes.watch.resource_changes import changes_between, held_at
from plinian.replay.server.kubernetes.wire.api_resources import ApiResource
from plinian.replay.server.kubernetes.wire.list_options import asked_of
from plinian.replay.server.settings import ServerSettings
from tree import ROOT

QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
RECORDED = json.loads(gzip.decompress((ROOT / "tests/data/api-answers.json.gz").read_bytes()))


@pytest.mark.parametrize("path", [PODS, QUEUES, "/api/v1/events", "/api/v1/nodes"])
def test_what_happened_after_a_revision_leads_to_the_state(server: Running, path: str) -> None:
    store = listed(server, f"/at/rv:300{path}")
    seen = []
    for one in lines(server.client, f"/at/rv:1200{path}", resourceVersion=300, timeoutSeconds=1):
        uid = one["object"]["metadata"]["uid"]
        assert (one["type"] == "ADDED") == (uid not in store), "added once, and then modified"
        if one["type"] == "DELETED":
            del store[uid]
        else:
            store[uid] = version(one["object"])
        seen.append(int(version(one["object"])))
    assert store == listed(server, f"/at/rv:1200{path}")
    assert seen == sorted(seen)
    assert all(300 < one <= 1200 for one in seen)


def test_every_version_in_the_log_is_seen(server: Running) -> None:
    with plinian.open(server.place, read_only=True) as log:
        versions = {
            recorded.event.revision
            for recorded in log.events(objects=(("", "Pod"),), revisions=(301, 1200))
            if recorded.event.revision is not None
            and recorded.event.kind in {"pod.created", "pod.updated", "pod.deleted"}
        }
    seen = told(server.client, f"/at/rv:1200{PODS}", resourceVersion=300)
    assert versions
    assert versions <= {int(revision) for _, _, revision in seen}


@pytest.mark.parametrize("kind", [("", "Pod"), ("", "Event"), ("batch.volcano.sh", "Job")])
def test_any_way_through_the_log_ends_where_the_log_is(
    demo_log: Path, kind: tuple[str, str]
) -> None:
    resource = ApiResource(
        group=kind[0], version="v1", kind=kind[1], plural="x", singular="x", namespaced=True
    )
    with opened(demo_log, read_only=True, branch="main", cluster=None) as log:
        kept = KeptStates()
        points = ["rv:1", "rv:255", "rv:391", "2026-11-21T01:53:36.5Z", "rv:1100", "end"]
        states = [ClusterState(log, log.moment(point), kept) for point in points]
        held = held_at(states[0], resource)
        for before, after in pairwise(states):
            for change in changes_between(log, before, after, resource, held):
                assert before.revision < change.revision <= after.revision
                assert json.loads(change.body)["metadata"]["name"] == change.name[1]
            assert held == held_at(after, resource)


def test_an_object_that_is_no_longer_selected_is_deleted_for_the_watch(server: Running) -> None:
    chosen = {"fieldSelector": "status.phase=Pending", "resourceVersion": 300}
    store: set[str] = set(listed(server, f"/at/rv:300{PODS}?fieldSelector=status.phase=Pending"))
    kinds = set()
    for one in lines(server.client, f"/at/rv:500{PODS}", timeoutSeconds=1, **chosen):
        kinds.add(one["type"])
        uid = one["object"]["metadata"]["uid"]
        (store.discard if one["type"] == "DELETED" else store.add)(uid)
    assert store == set(listed(server, f"/at/rv:500{PODS}?fieldSelector=status.phase=Pending"))
    assert kinds == {"ADDED", "MODIFIED", "DELETED"}


def test_one_object_can_be_watched(server: Running) -> None:
    path = f"/at/rv:391{QUEUES}"
    assert told(server.client, path, fieldSelector="metadata.name=gold")[0][:2] == ("ADDED", "gold")
    assert [one[1] for one in told(server.client, f"{path}/gold")] == ["gold"]


def test_a_watch_that_lists_ends_its_begin_with_a_bookmark(server: Running) -> None:
    asked = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    for accept, kind in (("", "Queue"), (METADATA.format(""), "PartialObjectMetadata")):
        seen = list(
            lines(
                server.client,
                f"/at/rv:391{QUEUES}",
                accept,
                allowWatchBookmarks="true",
                timeoutSeconds=1,
                **asked,
            )
        )
        assert [one["type"] for one in seen[:6]] == [*["ADDED"] * 5, "BOOKMARK"]
        closing, *later = [one["object"] for one in seen[5:]]
        assert not any("annotations" in one["metadata"] for one in later)
        assert closing["kind"] == kind
        assert closing["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert version(closing) == "391"


def test_a_watch_has_the_shape_that_a_real_server_gave(tmp_path: Path) -> None:
    """What a real server sent is ingested, and watched from the begin of what is known."""
    real = [one for one in RECORDED["watch_list"] if one["type"] != "BOOKMARK"]
    file = tmp_path / "watch-queues.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in real))
    with plinian.open(tmp_path / "queues.db", create=True) as log:
        log.ingest([file])
    running = serving(tmp_path / "queues.db")
    first = max(int(version(one["object"])) for one in real[:2])
    seen = list(lines(running.client, QUEUES, resourceVersion=first, timeoutSeconds=1))
    ended(running)
    assert seen == real[2:]


def test_a_table_names_its_columns_in_the_first_event_alone(server: Running) -> None:
    seen = list(
        lines(server.client, f"/at/rv:420{PODS}", TABLE, resourceVersion=391, timeoutSeconds=1)
    )
    heads = [len(one["object"]["columnDefinitions"]) for one in seen]
    assert heads[0] == 9
    assert set(heads[1:]) == {0}
    assert {len(one["object"]["rows"]) for one in seen} == {1}


def test_a_watch_from_the_future_ends_at_once(server: Running) -> None:
    (one,) = lines(server.client, f"/at/rv:391{PODS}", resourceVersion=392)
    recorded = RECORDED["too_old"]
    assert one["type"] == recorded["type"]
    assert one["object"].keys() == recorded["object"].keys()
    assert (one["object"]["reason"], one["object"]["code"]) == ("Expired", 410)


@pytest.fixture
def growing(demo_log: Path, tmp_path: Path) -> Iterator[Running]:
    """Return a server of a log that can be appended to."""
    place = tmp_path / "grows.db"
    shutil.copy(demo_log, place)
    running = serving(place)
    yield running
    ended(running)


@pytest.mark.parametrize("streaming", [False, True])
def test_informers_see_what_is_appended(growing: Running, *, streaming: bool) -> None:
    base = f"http://127.0.0.1:{growing.port}"
    informer = Informer(base, "/api/v1/nodes", streaming=streaming)
    assert informer.synced.wait(60)
    assert informer.versions() == listed(growing, "/api/v1/nodes")
    _append(growing.place, {"name": "late", "uid": "u-late", "resourceVersion": "999999"})
    until(lambda: "u-late" in informer.store)
    assert informer.versions() == listed(growing, "/api/v1/nodes")
    assert informer.relisted == 0
    informer.close()


def _append(place: Path, metadata: dict[str, Any]) -> None:
    file = place.with_name("node.json")
    node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {}}
    file.write_text(json.dumps(node))
    with plinian.open(place) as log:
        log.ingest([file])


def test_the_end_of_the_server_ends_watches(demo_log: Path) -> None:
    running = serving(demo_log)
    with running.client.stream("GET", PODS, params={"watch": "1"}) as answer:
        next(answer.iter_lines())
        running.process.terminate()
        assert running.process.wait(timeout=60) is not None
    running.client.close()


def test_much_at_once_comes_in_small_parts_that_all_watches_share(demo_log: Path) -> None:
    """Each connection copies the part that it sends, so large ones take memory for each client."""
    pods = ApiResource(
        group="", version="v1", kind="Pod", plural="pods", singular="pod", namespaced=True
    )
    everything = asked_of(pods, "", {"watch": "1"}, "")

    async def watched() -> list[list[bytes]]:
        follower = WatchFollower(ServerSettings(str(demo_log)))
        first, last = [
            await follower.ask(lambda log, point=point: log.moment(point))
            for point in ("rv:391", "rv:1200")
        ]
        await follower.advance(first)
        openings = [await follower.open(pods, everything, None) for _ in range(2)]
        for opening in openings:
            assert [part async for part in follower.begin(opening)]
        await follower.advance(last)
        found = [await opening.watcher.take(0) for opening in openings]
        follower.close()
        return found

    parts, others = asyncio.run(watched())
    assert sum(map(len, parts)) > 200_000
    assert all(len(part) < 100_000 for part in parts)
    assert all(part is other for part, other in zip(parts, others, strict=True))


def test_too_much_at_once_ends_watches_and_clients_list_again(
    demo_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOST_STEPS", 3)
    pods = ApiResource(
        group="", version="v1", kind="Pod", plural="pods", singular="pod", namespaced=True
    )
    everything = asked_of(pods, "", {"watch": "1"}, "")

    async def watched() -> list[bytes]:
        follower = WatchFollower(ServerSettings(str(demo_log)))
        first, second, last = [
            await follower.ask(lambda log, point=point: log.moment(point))
            for point in ("rv:391", "rv:393", "end")
        ]
        await follower.advance(first)
        opening = await follower.open(pods, everything, None)
        assert [part async for part in follower.begin(opening)]
        await follower.advance(second)
        assert not opening.watcher.drained
        await follower.advance(last)
        found = await opening.watcher.take(0)
        follower.close()
        return found

    *_, end = asyncio.run(watched())
    assert json.loads(end)["object"]["code"] == 410

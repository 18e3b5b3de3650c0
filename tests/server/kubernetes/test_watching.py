"""Watches of a branch see each write once, whoever wrote, and clients that write together agree."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from branches import BRANCH
from informers import PODS, TABLE, Informer, lines, listed, told, until
from serving import Running, ended, serving

import plinian
from plinian.engine.events import Event, Reference
from plinian.engine.log import open_log

CONFIG = "/api/v1/namespaces/default/configmaps"
WAITING = "/api/v1/namespaces/default/pods/gpu-2-gpu-0"
MERGE = {"Content-Type": "application/merge-patch+json"}
WRITERS, WRITES = 4, 8


def now(client: httpx.Client) -> str:
    """Return the resourceVersion of the branch."""
    found: str = client.get(CONFIG, params={"limit": 1}).json()["metadata"]["resourceVersion"]
    return found


def create(client: httpx.Client, name: str, **metadata: Any) -> httpx.Response:
    """Create a small object."""
    return client.post(CONFIG, json={"metadata": {"name": name, **metadata}})


def test_a_watch_sees_what_was_written_before_and_after_it_began(writable: Running) -> None:
    client, version = writable.client, now(writable.client)
    create(client, "before")
    seen: list[tuple[str, str]] = []

    def watch() -> None:
        with httpx.Client(base_url=client.base_url, timeout=60) as other:
            for one in lines(other, CONFIG, resourceVersion=version, timeoutSeconds=30):
                seen.append((one["type"], one["object"]["metadata"]["name"]))
                if one["object"]["metadata"]["name"] == "after":
                    return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    until(lambda: ("ADDED", "before") in seen)
    client.patch(f"{CONFIG}/before", json={"data": {"a": "b"}}, headers=MERGE)
    client.delete(f"{CONFIG}/before")
    create(client, "after")
    thread.join(60)
    assert seen == [
        ("ADDED", "before"),
        ("MODIFIED", "before"),
        ("DELETED", "before"),
        ("ADDED", "after"),
    ]


def test_an_object_that_stops_matching_a_selector_is_deleted_for_its_watches(
    writable: Running,
) -> None:
    client, version = writable.client, now(writable.client)
    create(client, "a", labels={"team": "x"})
    client.patch(f"{CONFIG}/a", json={"metadata": {"labels": {"team": "y"}}}, headers=MERGE)
    seen = told(client, CONFIG, resourceVersion=version, labelSelector="team=x")
    assert [one[:2] for one in seen] == [("ADDED", "a"), ("DELETED", "a")]


def test_a_version_of_the_past_is_expired_and_one_of_the_future_too(writable: Running) -> None:
    for version in ("5", "999999"):
        (only,) = lines(writable.client, CONFIG, resourceVersion=version, timeoutSeconds=1)
        assert (only["type"], only["object"]["code"]) == ("ERROR", 410)


def test_tables_are_watched_as_well(writable: Running) -> None:
    version = now(writable.client)
    create(writable.client, "a")
    (one,) = lines(
        writable.client, CONFIG, TABLE.format(""), resourceVersion=version, timeoutSeconds=1
    )
    assert one["object"]["kind"] == "Table"
    assert one["object"]["rows"][0]["cells"][0] == "a"


@pytest.mark.parametrize("streaming", [False, True], ids=["list and watch", "watch-list"])
def test_informers_agree_with_the_branch_while_many_write(
    writable: Running, *, streaming: bool
) -> None:
    base = str(writable.client.base_url)
    informer = Informer(base, PODS, streaming=streaming)
    assert informer.synced.wait(60)

    def write(writer: int) -> list[int]:
        codes = []
        with httpx.Client(base_url=base, timeout=120) as client:
            for number in range(WRITES):
                labels = {f"writer-{writer}": str(number)}
                answer = client.patch(WAITING, json={"metadata": {"labels": labels}}, headers=MERGE)
                codes.append(answer.status_code)
        return codes

    with ThreadPoolExecutor(WRITERS) as pool:
        codes = Counter(code for some in pool.map(write, range(WRITERS)) for code in some)
    assert codes == {200: WRITERS * WRITES}
    until(lambda: informer.versions() == listed(writable, PODS))
    labels = writable.client.get(WAITING).json()["metadata"]["labels"]
    assert {name: labels[name] for name in labels if "writer" in name} == {
        f"writer-{writer}": str(WRITES - 1) for writer in range(WRITERS)
    }
    informer.close()


def test_of_two_that_update_the_same_version_one_has_a_conflict(writable: Running) -> None:
    held = writable.client.get(WAITING).json()
    base = str(writable.client.base_url)

    def write(writer: int) -> int:
        labels = {**held["metadata"]["labels"], "by": str(writer)}
        document = {**held, "metadata": {**held["metadata"], "labels": labels}}
        return httpx.put(base + WAITING, json=document, timeout=120).status_code

    with ThreadPoolExecutor(WRITERS) as pool:
        codes = sorted(pool.map(write, range(WRITERS)))
    assert codes == [200] + [409] * (WRITERS - 1)


def test_the_order_of_events_is_that_of_revisions(writable: Running) -> None:
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda number: create(writable.client, f"c-{number}"), range(20)))
    with plinian.open(writable.place, branch=BRANCH) as log:
        revisions = [each.event.revision for each in log.events(after=1901)]
    assert len(revisions) == 20
    assert revisions == sorted(set(revisions), key=lambda one: one or 0)


def test_what_somebody_else_appends_to_the_branch_is_noticed(writable: Running) -> None:
    create(writable.client, "a")
    with open_log(writable.place) as store:
        store.append([_foreign(int(now(writable.client)) + 1)], branch=BRANCH)
    assert create(writable.client, "b").status_code == 201
    names = {one["metadata"]["name"] for one in writable.client.get(CONFIG).json()["items"]}
    assert {"a", "b", "foreign"} <= names


@pytest.mark.slow
def test_two_servers_of_one_branch_never_lose_a_write(branched: Path) -> None:
    servers = [serving(branched, "--branch", BRANCH, "--writable") for _ in range(2)]
    with ThreadPoolExecutor(WRITERS) as pool:
        answers = list(
            pool.map(lambda number: create(servers[number % 2].client, f"c-{number}"), range(12))
        )
    made = {n for n, answer in enumerate(answers) if answer.status_code == 201}
    assert {answer.status_code for answer in answers} <= {201, 503}
    assert len(made) > 2
    create(servers[0].client, "last")
    held = {one["metadata"]["name"] for one in servers[0].client.get(CONFIG).json()["items"]}
    assert {f"c-{n}" for n in made} <= held
    for one in servers:
        ended(one)


def test_a_server_that_is_killed_leaves_whole_writes(branched: Path) -> None:
    running = serving(branched, "--branch", BRANCH, "--writable")
    done: list[str] = []

    def write() -> None:
        with httpx.Client(base_url=running.client.base_url, timeout=60) as client:
            try:
                for number in range(10_000):
                    create(client, f"c-{number}").raise_for_status()
                    done.append(f"c-{number}")
            except httpx.TransportError:
                return

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    until(lambda: len(done) > 5)
    running.process.kill()
    running.process.wait(60)
    thread.join(60)
    running.client.close()
    with plinian.open(branched, branch=BRANCH) as log:
        log.verify()
        written = [each.event.reference.name for each in log.events(after=1901)]
    assert set(done) <= set(written)
    assert len(written) - len(done) <= 1


def _foreign(revision: int) -> Event:
    payload = (
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"foreign","namespace":"default",'
        f'"resourceVersion":"{revision}","uid":"u-foreign"}}}}'
    )
    return Event(
        kind="object.created",
        reference=Reference("", "ConfigMap", "default", "foreign", "u-foreign"),
        payload=payload.encode(),
        resource_version=str(revision),
        revision=revision,
    )

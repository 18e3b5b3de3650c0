"""A server of a log in Postgres answers as one of the same log in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from branches import BRANCH
from informers import until
from serving import Running, ended, serving

import plinian
from clusters import pod, watched
from plinian.engine.log import open_log

pytestmark = pytest.mark.postgres

RECORDING = Path(__file__).parents[2] / "replay" / "recordings" / "quickstart"
MOMENT = "rv:1200"
PODS = "/api/v1/namespaces/default/pods"
PAGES = (".json", "/jobs.json", "/queues.json", "/nodes.json", "/session.json", "/check.json")
QUESTIONS = (
    "kinds?at=@1901",
    "why?object=job/gpu-2&at=@1901",
    "drift?at=@1901",
    "sessions?until=@1901",
)


@pytest.fixture
def both(postgres_log_url: str, tmp_path: Path) -> Iterator[tuple[Running, Running]]:
    """Return a server of the recording in a file, and one of it in Postgres."""
    running = []
    for place in (str(tmp_path / "log.db"), postgres_log_url):
        with plinian.open(place, create=True) as log:
            log.ingest(RECORDING)
        running.append(serving(place))
    yield running[0], running[1]
    for one in running:
        ended(one)


@pytest.mark.slow
def test_pages_and_the_api_of_the_past_are_the_same(both: tuple[Running, Running]) -> None:
    past = (f"/at/{MOMENT}{PODS}", f"/at/{MOMENT}/api/v1/nodes")
    for path in (*past, *(f"/plinian/v1/{one}" for one in QUESTIONS)):
        answers = [one.client.get(path) for one in both]
        assert [one.status_code for one in answers] == [200, 200], path
        assert answers[0].json() == answers[1].json(), path
    for page in PAGES:
        answers = [one.client.get(f"/@1901{page}") for one in both]
        assert [one.status_code for one in answers] == [200, 200], page
        data = [one.json()["data"] for one in answers]
        assert data[0] == data[1], page


def test_it_follows_what_is_ingested(
    both: tuple[Running, Running], postgres_log_url: str, tmp_path: Path
) -> None:
    _, running = both
    more = tmp_path / "more.jsonl"
    more.write_bytes(watched(("ADDED", pod("late", 5000))))
    with plinian.open(postgres_log_url) as log:
        log.ingest(more)

    def names() -> set[str]:
        found = running.client.get("/api/v1/pods").json()["items"]
        return {one["metadata"]["name"] for one in found}

    until(lambda: "late" in names(), seconds=120)


def test_a_branch_is_written(postgres_log_url: str) -> None:
    with plinian.open(postgres_log_url, create=True) as log:
        log.ingest(RECORDING)
        fork = log.moment(MOMENT).known
    with open_log(postgres_log_url) as store:
        store.create_branch(BRANCH, fork=fork)
    running = serving(postgres_log_url, "--branch", BRANCH, "--writable")
    try:
        document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made"}}
        made = running.client.post("/api/v1/namespaces/default/configmaps", json=document)
        assert made.status_code == 201
        held = running.client.get("/api/v1/namespaces/default/configmaps/made")
        assert held.json()["metadata"]["uid"] == made.json()["metadata"]["uid"]
    finally:
        ended(running)
    with plinian.open(postgres_log_url, branch=BRANCH) as log:
        assert [one["metadata"]["name"] for one in log.get("configmaps", "made")] == ["made"]

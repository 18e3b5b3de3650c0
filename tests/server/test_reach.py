"""What would take too long is refused at once, with what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

import plinian
from plinian.engine.log import LogStore
from plinian.engine.log.store import Checkpoint
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief.stored_belief import version_of
from plinian.replay.server import reach
from plinian.replay.server.app import application
from plinian.replay.server.running import look
from plinian.replay.server.settings import ServerSettings

NEEDS_CACHE = (
    *("nodes", "session", "compare", "compare?with=moments&vs=@3900"),
    "check?over=moment&run=yes",
)
READS_ALL = ("sessions", "queues/over-time", "nodes/over-time", "check?over=whole&run=yes")


@pytest.fixture
def client(demo_log: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """Return a client of a server that replays and reads no more than a few events."""
    monkeypatch.setattr(reach, "MOST_REPLAYED", 100)
    monkeypatch.setattr(reach, "MOST_READ", 100)
    return TestClient(application(ServerSettings(str(demo_log))), base_url="http://localhost")


@pytest.mark.parametrize("path", [*NEEDS_CACHE, *READS_ALL])
def test_pages_say_at_once_that_it_would_take_too_long(client: TestClient, path: str) -> None:
    answer = client.get(f"/@4000/{path}")
    assert answer.status_code == 503
    wanted = "plinian checkpoint build" if path in NEEDS_CACHE else "in a terminal: plinian"
    assert wanted in answer.text
    assert "Retry-After" not in answer.headers, "to try again soon does not help"


@pytest.mark.parametrize("pane", ["drift", "why"])
def test_panes_say_it_beside_the_rest(client: TestClient, pane: str) -> None:
    answer = client.get(f"/@4000?pane={pane}&part=panel&sel=podgroup/default/big-gang")
    assert answer.status_code == 200
    assert "plinian checkpoint build" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        *("session?at=@4000", "drift?at=@4000", "belief?at=@4000", "why?object=job/x&at=@4000"),
        *("compare?release=v1.11.0&release=v1.12.1&at=@4000", "check?at=@4000"),
        *(
            "what-if?at=@4000&cordon=node-0",
            "compare-moments?before=@3900&after=@4000&release=v1.12.1",
        ),
    ],
)
def test_the_api_says_it(client: TestClient, path: str) -> None:
    answer = client.get(f"/plinian/v1/{path}")
    assert answer.status_code == 503
    assert "plinian checkpoint build --release v1.1" in answer.json()["error"]["now"]


@pytest.mark.parametrize("name", ["sessions", "check"])
def test_the_api_says_what_reads_all(client: TestClient, name: str) -> None:
    answer = client.get(f"/plinian/v1/{name}")
    assert answer.status_code == 503
    assert "in a terminal: plinian" in answer.json()["error"]["now"]


def test_other_pages_are_answered(client: TestClient) -> None:
    for path in ("", "/jobs", "/queues", "/diff?vs=3900", "/what-if"):
        assert client.get(f"/@4000{path}").status_code == 200, path


def test_early_moments_are_answered(client: TestClient) -> None:
    assert client.get("/@90/nodes").status_code == 200


def test_a_release_that_is_none_is_told(client: TestClient) -> None:
    answer = client.get("/@4000/nodes?release=newest")
    assert answer.status_code == 400


def test_a_stored_cache_is_found(
    tmp_path: Path, demo_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "log.db"
    place.write_bytes(demo_log.read_bytes())
    with plinian.open(place, read_only=True) as log:
        moment = log.moment("end")
        monkeypatch.setattr(reach, "MOST_REPLAYED", 100)
        assert reach.is_out_of_reach(log, moment, "v1.12.1")
        after = log.moment(f"@{moment.known - 60}")
        revision = log.store.extent(known=after.known, cluster=after.cluster).last_revision
        assert revision is not None
    with plinian.open(place) as log:
        _store_cache(log.store, revision)
    with plinian.open(place, read_only=True) as log:
        assert not reach.is_out_of_reach(log, log.moment("end"), "v1.12.1")
        assert reach.is_out_of_reach(log, log.moment("@2000"), "v1.12.1")
        assert reach.is_out_of_reach(log, log.moment("end"), "v1.15.1"), "of another cache"


def _store_cache(store: LogStore, revision: int) -> None:
    """Store a row at the place of a cache; only where it is matters here."""
    store.put_checkpoint(
        Checkpoint(
            branch="main",
            cluster="default",
            revision=revision,
            known=store.last("main"),
            version=version_of(resolve("v1.12.1")),
            data=b"",
        )
    )


def test_the_start_of_the_server_says_it(demo_log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ServerSettings(str(demo_log))
    assert look(settings) == []
    monkeypatch.setattr(reach, "MOST_REPLAYED", 100)
    (line,) = look(settings)
    assert f"plinian checkpoint build --release v1.12.1 --log {demo_log}" in line

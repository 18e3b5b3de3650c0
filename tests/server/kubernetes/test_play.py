"""The served moment moves on, and clients live through it; when it goes back, they ask again."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from informers import PODS, Informer, lines, listed, until, version
from serving import Running, ended, run, serving, serving_here

from plinian.replay.server.settings import ServerSettings

PLAY = "/plinian/v1/play"


@pytest.fixture
def steered(demo_log: Path) -> Iterator[Running]:
    """Return a server that stands at a revision."""
    with serving_here(ServerSettings(str(demo_log), at="rv:391", port=0)) as running:
        yield running


def steer(server: Running, command: str, **more: Any) -> Any:
    """Do a command, and return where the server then is."""
    answer = server.client.post(PLAY, json={"command": command, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def informers(server: Running) -> list[Informer]:
    """Return an informer of each sort, synced."""
    base = f"http://127.0.0.1:{server.port}"
    found = [Informer(base, PODS, streaming=streaming) for streaming in (False, True)]
    for one in found:
        assert one.synced.wait(60)
    return found


def test_it_stands_where_it_was_told_to(steered: Running) -> None:
    found = steered.client.get(PLAY).json()
    assert (found["revision"], found["playing"]) == (391, False)
    assert found["time"].startswith("2026-11-21T01:52:58")
    assert version(steered.client.get(PODS).json()) == "391"


def test_informers_follow_steps_and_moves_and_what_is_played(steered: Running) -> None:
    followers = informers(steered)
    assert steer(steered, "step")["revision"] > 391
    found = steer(steered, "to", point="rv:600")
    assert found["revision"] == 600
    for one in followers:
        until(lambda one=one: one.versions() == listed(steered, "/at/rv:600/api/v1/pods"))
    assert steer(steered, "play", speed=100_000)["playing"]
    until(lambda: not steered.client.get(PLAY).json()["playing"])
    for one in followers:
        until(lambda one=one: one.versions() == listed(steered, "/at/end/api/v1/pods"))
        assert one.relisted == 0
        one.close()


def test_going_back_shows_the_earlier_state(steered: Running) -> None:
    steer(steered, "to", point="rv:1200")
    followers = informers(steered)
    steer(steered, "to", point="rv:300")
    for one in followers:
        until(lambda one=one: one.versions() == listed(steered, "/at/rv:300/api/v1/pods"))
        assert one.relisted == 1
        one.close()


def test_a_watch_ends_with_an_error_when_the_moment_goes_back(steered: Running) -> None:
    seen = lines(steered.client, PODS, resourceVersion=391, allowWatchBookmarks="true")

    def back() -> None:
        with httpx.Client(base_url=steered.client.base_url, timeout=60) as client:
            for point in ("rv:420", "rv:300"):
                client.post(PLAY, json={"command": "to", "point": point})

    thread = threading.Thread(target=back)
    thread.start()
    first = list(seen)
    thread.join()
    assert first[-1]["type"] == "ERROR"
    assert first[-1]["object"]["code"] == 410
    assert {one["type"] for one in first[:-1]} <= {"ADDED", "MODIFIED", "DELETED"}


def test_it_pauses_and_keeps_its_speed(steered: Running) -> None:
    assert steer(steered, "speed", speed=0.5)["speed"] == 0.5
    assert steer(steered, "play")["playing"]
    stood = steer(steered, "pause")
    assert not stood["playing"]
    assert steered.client.get(PLAY).json() == stood


def test_a_server_that_plays_begins_where_all_is_known(demo_log: Path) -> None:
    running = serving(demo_log, "--play", "2x")
    found = running.client.get(PLAY).json()
    ended(running)
    assert found["playing"]
    assert found["speed"] == 2
    assert 240 <= found["revision"] < 2059


@pytest.mark.parametrize(
    "body",
    [
        *("", "[]", "{}", '{"command":"fly"}', '{"command":"to"}', '{"command":"speed"}'),
        *('{"command":"speed","speed":0}', '{"command":"play","speed":-1}'),
        '{"command":"to","point":"nonsense"}',
    ],
)
def test_what_is_no_command_is_refused(steered: Running, body: str) -> None:
    answer = steered.client.post(PLAY, content=body)
    assert answer.status_code in {400, 404}
    assert answer.json()["error"]["now"]
    assert steered.client.get(PLAY).json()["revision"] == 391


def test_the_command_steers(steered: Running) -> None:
    server = f"http://127.0.0.1:{steered.port}"
    assert "rv:391" in run("play", "--server", server).stdout
    done = run("play", "to", "rv:300", "--server", server, "-o", "json")
    assert json.loads(done.stdout)["revision"] == 300
    assert "playing at 0.001x" in run("play", "play", "0.001x", "--server", server).stdout
    assert "standing still" in run("play", "pause", "--server", server).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("to",), "plinian play to POINT"),
        (("speed",), "plinian play speed 10x"),
        (("speed", "fast"), "is no speed"),
        (("step", "2"), "step takes no '2'"),
        (("pause",), "no plinian serve answers here"),
        (("pause", "--server", "ftp://x"), "is no address"),
    ],
)
def test_a_wrong_command_says_what_to_do(arguments: tuple[str, ...], said: str) -> None:
    where = () if "--server" in arguments else ("--server", "http://127.0.0.1:1")
    done = run("play", *arguments, *where)
    assert done.returncode != 0
    assert said in done.stderr

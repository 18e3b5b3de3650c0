"""The JSON API and the pages say what was filled in when objects were ingested."""

from __future__ import annotations

from pathlib import Path

from api_questions import TIME
from serving import Running, ended, serving

from clusters import compact, listed, pod
from plinian.engine.log import open_log
from plinian.replay.ingest.ingest_run import ingest


def test_the_api_and_a_page_say_what_was_filled_in(tmp_path: Path) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {"capacity": {"cpu": "4"}},
    }
    path, place = tmp_path / "all.json", tmp_path / "a.db"
    path.write_bytes(compact(listed(node, pod("a", 7), kind="List")))
    with open_log(place, create=True) as log:
        last = ingest(log, [str(path)]).last_position
    running = serving(place)
    try:
        assumed = running.client.get("/plinian/v1/state/nodes").json()["assumed"]
        page = running.client.get(f"/@{last}/nodes").text
    finally:
        ended(running)
    allocatable = "1 node (n1) had no status.allocatable: taken to be the capacity"
    assert sum(allocatable in one for one in assumed) == 1
    assert sum("neither uid nor resourceVersion" in one for one in assumed) == 1
    assert page.count(allocatable) == 1


def test_an_answer_about_every_release_assumes_none(server: Running) -> None:
    found = server.client.get("/plinian/v1/lint", params={"at": TIME}).json()
    assert found["result"]["findings"]
    assert (found["releases"], found["assumed"]) == ([], [])


def test_a_server_of_one_release_checks_objects_for_all(demo_log: Path) -> None:
    running = serving(demo_log, "--release", "v1.12.1")
    try:
        found = running.client.get("/plinian/v1/lint", params={"at": TIME}).json()
    finally:
        ended(running)
    assert len(found["result"]["findings"][0]["releases"]) > 20

"""The pages over HTTP: points, JSON, caching, faults, and what a browser is forbidden."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from serving import Running, ended, serving

import plinian
from plinian.replay.server.web.assets import assets
from plinian.replay.server.web.look import Look

MOST_ASSETS = 500_000
"""Bytes of style sheets and scripts in the wheel."""


def _moved(server: Running, path: str) -> str:
    answer = server.client.get(path)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def test_points_become_positions(server: Running) -> None:
    with plinian.open(server.place, read_only=True) as log:
        last = log.store.last()
        opened = log.moment("session:3")
    assert _moved(server, "/") == f"/@{last}/overview"
    assert _moved(server, "/@end") == f"/@{last}"
    for point in ("t:2026-11-21T01:53:36Z", "2026-11-21T01:53:36Z", "rv:1088", "session:3"):
        position = int(_moved(server, f"/@{point}").removeprefix("/@"))
        with plinian.open(server.place, read_only=True) as log:
            at = "session:3" if point == "session:3" else point.removeprefix("t:")
            assert log.digest(f"@{position}") == log.digest(at), point
    assert opened.revision is not None


def test_a_slash_at_the_end_leads_to_the_page(server: Running) -> None:
    assert _moved(server, "/@1901/") == "/@1901"
    assert _moved(server, "/@1901/?tz=local") == "/@1901?tz=local"


def _last(server: Running) -> int:
    return int(server.client.get("/plinian/v1/about").json()["last"])


def test_a_form_keeps_the_look(server: Running) -> None:
    found = _moved(server, "/@go?point=@1901&sel=node/node-1&page=nodes")
    assert found == "/@1901/nodes?sel=node/node-1"


def test_json_has_the_data_of_the_page(server: Running) -> None:
    path = "/@1901{}?sel=node/node-1&pane=state&lanes=node/node-1"
    data = server.client.get(path.format(".json")).json()["data"]
    page = server.client.get(path.format("")).text
    for row in data["events"]["rows"]:
        assert f'id="e{row["position"]}"' in page
    for field in data["pane"]["fields"][:20]:
        assert field["path"].replace(".", ".<wbr>").split("[")[0] in page
    assert data["drawing"]["lanes"][0]["stretches"][1]["phase"] == "Ready"
    assert len(data["events"]["rows"]) <= 200


def test_what_fields_say_is_what_the_log_holds(server: Running) -> None:
    path = "/@2000.json?sel=node/node-1&pane=state"
    fields = {one["path"]: one for one in server.client.get(path).json()["data"]["pane"]["fields"]}
    with plinian.open(server.place, read_only=True) as log:
        node = log.get("nodes", "node-1", at="@2000")[0]
        past = log.history("node/node-1", at="@2000")
    assert fields["status.allocatable.cpu"]["value"] == node["status"]["allocatable"]["cpu"]
    set_by = fields["spec.unschedulable"]["set_by"]
    changes = [
        line.position
        for line in past.happenings
        for change in line.changes
        if change.path == "spec.unschedulable"
    ]
    assert set_by == changes[-1]


def test_an_answer_is_asked_again_only_after_something_was_appended(
    demo_log: Path, tmp_path: Path
) -> None:
    place = tmp_path / "grows.db"
    place.write_bytes(demo_log.read_bytes())
    running = serving(place)
    first = running.client.get("/@1901")
    same = {"If-None-Match": first.headers["etag"]}
    assert running.client.get("/@1901", headers=same).status_code == 304
    assert running.client.get("/@1902", headers=same).status_code == 200
    node = tmp_path / "node.json"
    node.write_text(
        '{"apiVersion":"v1","kind":"Node","metadata":{"name":"late","uid":"u-late",'
        '"resourceVersion":"999999"},"status":{}}'
    )
    with plinian.open(place) as log:
        log.ingest([node])
    again = running.client.get("/@1901", headers=same)
    assert again.status_code == 200
    assert again.headers["etag"] != first.headers["etag"]
    ended(running)


def test_assets_are_small_and_kept_for_ever(server: Running) -> None:
    page = server.client.get("/@1901").text
    found = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert len(found) >= 5
    for path in found:
        answer = server.client.get(path)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert sum(map(len, assets().files.values())) < MOST_ASSETS
    old = server.client.get("/static/000000000000/site.css")
    assert "immutable" not in old.headers["cache-control"]
    assert server.client.get("/static/000000000000/..%2Fsite.py").status_code == 404


def test_nothing_inline_may_run(server: Running) -> None:
    answer = server.client.get("/@1901?sel=job/default/big-gang&pane=why&wait=1")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]* src=)", answer.text)
    assert not re.search(r"\s(?:style|on\w+)=", answer.text)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/@99999", 404, "beyond the end"),
        ("/@noon", 404, "invalid point"),
        ("/@1901/no-such-page", 404, "no such page"),
        ("/@1901?part=nothing", 400, "has no part"),
        ("/@1901/step/dance/next", 400, "no step"),
    ],
)
def test_a_fault_is_a_page_with_a_way_out(
    server: Running, path: str, status: int, words: str
) -> None:
    answer = server.client.get(path)
    assert answer.status_code == status
    assert words in answer.text
    assert f'href="/@{_last(server)}"' in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("/@LAST/step/event/next", "There is no event after @LAST."),
        ("/@LAST/step/session/next", "There is no session after @LAST."),
        ("/@1/step/object/previous", "There is no event of the selected object before @1."),
    ],
)
def test_a_step_that_leads_nowhere_leads_back(server: Running, step: str, said: str) -> None:
    look = "?sel=job/default/big-gang"
    step, said = (text.replace("LAST", str(_last(server))) for text in (step, said))
    answer = server.client.get(f"{step}{look}")
    assert answer.status_code == 302
    back = answer.headers["location"]
    assert back.startswith(f"{step.split('/step', maxsplit=1)[0]}{look}")
    page = server.client.get(back).text
    assert said in page
    assert "missed=" not in page
    told = server.client.get(step, headers={"Accept": "application/json"})
    assert told.status_code == 404
    assert said[1:-1] in told.json()["error"]["what"]


def test_an_object_that_never_was_is_said_in_the_panel(server: Running) -> None:
    data = server.client.get("/@1901.json?sel=pod/ml/none").json()["data"]
    assert "pod/ml/none" in data["pane"]["fault"]
    assert data["events"]["rows"]


def test_values_that_cannot_be_used_are_said(server: Running) -> None:
    page = server.client.get("/@1901?vs=then&pane=sideways&unknown=kept").text
    assert "vs=then is not a moment" in page
    assert "no pane sideways" in page
    assert "unknown=kept" in page


HOSTILE = "<script>alert(1)</script>\"'&{{7*7}}\x1b[31m"


@pytest.mark.parametrize("name", ["sel", "q", "lanes", "pane", "release", "vs", "x"])
def test_what_a_link_says_is_never_markup(server: Running, name: str) -> None:
    answer = server.client.get(f"/@1901?{name}={quote(HOSTILE)}")
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "\x1b" not in answer.text
    assert "alert(1)" in answer.text or name in {"pane", "lanes"}


def test_a_log_without_events_says_how_to_fill_it(tmp_path: Path) -> None:
    place = tmp_path / "empty.db"
    plinian.open(place, create=True).close()
    running = serving(place)
    page = running.client.get("/", follow_redirects=True)
    assert page.status_code == 200
    assert "has no events yet" in page.text
    assert "plinian ingest" in page.text
    ended(running)


def test_a_browser_keeps_the_token_of_a_link(demo_log: Path, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("a-token-that-is-long-enough")
    running = serving(demo_log, "--token-file", str(file))
    client: httpx.Client = running.client
    assert client.get("/@1901").status_code == 401
    answer = client.get("/token/a-token-that-is-long-enough/@1901?q=pods")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/@1901?q=pods"
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert client.get("/@1901").status_code == 200
    ended(running)


def test_links_of_a_look_change_one_thing_and_keep_the_rest() -> None:
    look = Look(5, 9, "nodes", (("sel", "node/a"), ("q", "x y"), ("release", "v1.9.0")), "v1.12.1")
    assert look.here() == "/@5/nodes?sel=node/a&q=x%20y&release=v1.9.0"
    assert look.here(at=7, q=None) == "/@7/nodes?sel=node/a&release=v1.9.0"
    assert look.link("queues") == "/@5/queues?sel=node/a&release=v1.9.0"
    assert look.object("pod/a/b", vs="@3") == "/@5/pod/a/b?sel=node/a&release=v1.9.0&vs=@3"
    assert look.release == "v1.9.0"
    assert look._replace(query=(("vs", "@12"),)).versus == 9


@pytest.mark.parametrize(
    ("query", "window"),
    [
        ({}, (1, 9)),
        ({"from": "@3", "to": "@6"}, (3, 6)),
        ({"from": "@6", "to": "@3"}, (1, 9)),
        ({"from": "soon"}, (1, 9)),
        ({"from": "@4"}, (4, 9)),
    ],
)
def test_a_window_is_always_one(query: dict[str, Any], window: tuple[int, int]) -> None:
    look = Look(5, 9, query=tuple(query.items()))
    assert (look.begin, look.end) == window

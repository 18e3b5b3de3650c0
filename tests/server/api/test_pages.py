"""Long lists are read page by page, and all pages are of one state of the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from api_questions import TIME
from serving import Running, ended, serving

import plinian
from plinian.engine.errors import UsageError
from plinian.replay.server.api.pages import (
    AnswerTooLarge,
    ListPageSize,
    bounded,
    check_size,
    page_of,
)

API = "/plinian/v1"


def pages(server: Running, path: str, **query: Any) -> list[dict[str, Any]]:
    """Return all pages of an answer."""
    found: list[dict[str, Any]] = []
    while not found or found[-1]["next"] is not None:
        if found:
            query["cursor"] = found[-1]["next"]
        answer = server.client.get(f"{API}/{path}", params=query)
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "limit"),
    [
        (f"objects/pods?at={TIME}", 10),
        ("objects/pods/gpu-2-gpu-0", 1),
        ("sessions", 50),
        ("behaviours?release=v1.12.1", 100),
        ("state/pods", 7),
        ("events?kind=pod.*", 100),
    ],
)
def test_the_pages_of_a_list_are_the_list(server: Running, path: str, limit: int) -> None:
    name, _, query = path.partition("?")
    values = dict(word.split("=", 1) for word in query.split("&") if word)
    whole = pages(server, name, limit=1000, **values)
    some = pages(server, name, limit=limit, **values)
    assert [one for page in some for one in page["result"]] == [
        one for page in whole for one in page["result"]
    ]
    assert all(len(page["result"]) <= limit for page in some)
    assert len(some) == -(-len(whole[0]["result"]) // limit)


def test_lists_inside_of_an_answer_are_read_in_pages_too(server: Running) -> None:
    query = {"before": "2026-11-21T01:53:02Z", "after": TIME}
    (whole,) = pages(server, "diff", limit=1000, **query)
    some = pages(server, "diff", limit=50, **query)
    added = [one for page in some for one in page["result"]["added"]]
    assert added == whole["result"]["added"]
    assert len(some) == 3
    assert some[0]["cut"] == [{"field": "added", "first": 0, "shown": 50, "total": len(added)}]
    assert {len(page["result"]["changed"]) for page in some} == {len(whole["result"]["changed"])}


def test_a_log_that_grows_does_not_move_the_pages(demo_log: Path, tmp_path: Path) -> None:
    place = tmp_path / "grows.db"
    place.write_bytes(demo_log.read_bytes())
    running = serving(place)
    try:
        ask = {"limit": "3"}
        first = running.client.get(f"{API}/objects/nodes", params=ask).json()
        node = tmp_path / "node.json"
        node.write_text(
            '{"apiVersion":"v1","kind":"Node","metadata":{"name":"a-first","uid":"u-a",'
            '"resourceVersion":"999999"},"status":{}}'
        )
        with plinian.open(place) as log:
            log.ingest([node])
        query = {"cursor": first["next"]}
        second = running.client.get(f"{API}/objects/nodes", params=query).json()
        now = running.client.get(f"{API}/objects/nodes").json()
    finally:
        ended(running)
    names = [one["metadata"]["name"] for page in (first, second) for one in page["result"]]
    assert "a-first" not in names
    assert sorted(names) == names
    assert "a-first" in [one["metadata"]["name"] for one in now["result"]]


@pytest.mark.parametrize("cursor", ["", "x", "1-2", "1-0@3", "1-2000@3", "-1-2@3", "1-2@3 "])
def test_a_cursor_of_something_else_is_refused(server: Running, cursor: str) -> None:
    answer = server.client.get(f"{API}/events", params={"cursor": cursor})
    assert answer.status_code == 400
    assert "cursor" in answer.json()["error"]["what"]


def test_records_are_not_cut_and_maps_are() -> None:
    record = {str(number): number for number in range(20)}
    many = {str(number): number for number in range(300)}
    found, cuts, longest = bounded({"record": record, "many": many}, ListPageSize(5))
    assert found["record"] == record
    assert list(found["many"].values()) == [0, 1, 2, 3, 4]
    assert [(cut.field, cut.total) for cut in cuts] == [("many", 300)]
    assert longest == 300


def test_a_list_inside_of_one_that_is_cut_begins_on_every_page() -> None:
    """Its first members would be on no page but the first, where its parent is not."""
    whole = {"outer": [{"inner": [*range(number, number + 4)]} for number in range(6)]}
    shown = []
    for offset in (0, 3):
        found, cuts, longest = bounded(whole, ListPageSize(3, offset))
        shown += [one["inner"] for one in found["outer"]]
        assert longest == 6
        assert [(cut.field, cut.first, cut.shown, cut.total) for cut in cuts] == [
            ("outer", offset, 3, 6),
            *((f"outer.{number}.inner", 0, 3, 4) for number in range(offset, offset + 3)),
        ]
    assert shown == [[*range(number, number + 3)] for number in range(6)]


def test_the_pages_of_a_history_have_the_first_changes_of_each_version(server: Running) -> None:
    query = {"object": "pod/train-b-worker-3"}
    (whole,) = pages(server, "history", limit=1000, **query)
    some = pages(server, "history", limit=5, **query)
    shown = [one for page in some for one in page["result"]["happenings"]]
    assert [one["position"] for one in shown] == whole["evidence"]["positions"]
    assert [one["changes"] for one in shown] == [
        one["changes"][:5] for one in whole["result"]["happenings"]
    ]


def test_an_answer_that_is_too_large_says_how_to_narrow_it() -> None:
    check_size(b"12345", 5)
    with pytest.raises(AnswerTooLarge, match="6 bytes") as raised:
        check_size(b"123456", 5)
    assert "limit" in raised.value.now


def test_a_cursor_keeps_the_size_of_its_pages() -> None:
    page = page_of(7, None)
    assert page_of(99, page.cursor(page.end, 12)) == ListPageSize(7, 7, 12)
    with pytest.raises(UsageError):
        page_of(None, "7-7")

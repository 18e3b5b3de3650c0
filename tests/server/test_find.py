"""The page that finds: objects by the begin of their names, pages and moments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from web_pages import data_at, links_of, page_at, pages_of

from plinian.replay.server.web.find import MOST_OBJECTS

AT = "/@1901"
GANG = "job/default/big-gang"


@pytest.fixture(scope="module")
def client(demo_log: Path) -> Iterator[httpx.Client]:
    with pages_of(demo_log) as found:
        yield found


def _names(found: Any) -> list[str]:
    return [one["name"] for one in found["objects"]]


@pytest.mark.parametrize("text", ["big", "BIG-GANG", "job/big", "default/big", "job/default/big-g"])
def test_an_object_is_found_by_the_begin_of_its_name(client: httpx.Client, text: str) -> None:
    found = data_at(client, f"{AT}/find?q={text}")
    assert _names(found)[0] == GANG
    assert not found["gone"]


def test_the_whole_name_comes_first_then_jobs_before_pods(client: httpx.Client) -> None:
    assert _names(data_at(client, f"{AT}/find?q=gold"))[0] == "queue/gold"
    kinds = [name.partition("/")[0] for name in _names(data_at(client, f"{AT}/find?q=gpu"))]
    assert kinds.index("job") < kinds.index("pod")


def test_no_more_than_a_page_of_objects_is_listed_and_the_rest_is_counted(
    client: httpx.Client,
) -> None:
    found = data_at(client, f"{AT}/find?q=pod/")
    assert len(found["objects"]) == MOST_OBJECTS
    assert found["more"] > 0
    assert all(name.startswith("pod/") for name in _names(found))


def test_a_name_in_the_middle_or_of_another_kind_is_not_found(client: httpx.Client) -> None:
    assert not _names(data_at(client, f"{AT}/find?q=gang"))
    assert not _names(data_at(client, f"{AT}/find?q=node/big"))


def test_an_object_of_another_moment_is_found_if_none_exists_now(client: httpx.Client) -> None:
    found = data_at(client, "/@4446/find?q=big-gang")
    assert found["gone"]
    assert GANG in _names(found)


@pytest.mark.parametrize("text", ["@1500", "1500", "-90s", "2026-11-21T01:53:36Z", "end"])
def test_a_moment_opens_the_page_that_a_person_came_from(client: httpx.Client, text: str) -> None:
    found = data_at(client, f"{AT}/find?q={text}&page=queues&release=v1.11.0")["moment"]
    assert found["link"] == f"/@{found['position']}/queues?release=v1.11.0"
    assert client.get(found["link"]).status_code == 200


@pytest.mark.parametrize("text", ["@99999999", "rv:0", "train", "session:99999"])
def test_what_is_no_moment_of_the_log_is_no_moment(client: httpx.Client, text: str) -> None:
    assert data_at(client, f"{AT}/find?q={text}")["moment"] is None


def test_pages_are_found_by_a_part_of_their_name(client: httpx.Client) -> None:
    names = [one["name"] for one in data_at(client, f"{AT}/find?q=queue")["pages"]]
    assert names == ["Queues"]
    assert len(data_at(client, f"{AT}/find")["pages"]) > 10


def test_without_scripts_it_is_a_form_and_links(client: httpx.Client) -> None:
    start = page_at(client, f"{AT}/queues?sel=node/node-1")
    assert f"{AT}/find?sel=node/node-1&page=queues" in links_of(start)
    page = page_at(client, f"{AT}/find?q=big&sel=node/node-1")
    assert f"{AT}/{GANG}?sel=node/node-1" in links_of(page)
    assert {"name": "q", "value": "big"}.items() <= next(
        made for tag, made in page.elements if made.get("name") == "q"
    ).items()


def test_a_text_that_means_nothing_says_so(client: httpx.Client) -> None:
    page = page_at(client, f"{AT}/find?q=%3Cscript%3E")
    assert "No object has a name that begins so." in page.text


def test_kinds_of_events_are_found_by_a_bare_word(client: httpx.Client) -> None:
    found = data_at(client, f"{AT}/find?q=evicted")["events"]
    assert [one["name"] for one in found] == ["pod.evicted"]
    assert found[0]["link"] == f"{AT}?q=pod.evicted"
    rows = data_at(client, f"{AT}?q=evicted")["events"]["rows"]
    assert {row["kind"] for row in rows} == {"pod.evicted"}


def test_who_did_something_is_found(client: httpx.Client) -> None:
    found = data_at(client, f"{AT}/find?q=kubernetes-adm")["events"]
    assert [one["name"] for one in found] == ["kubernetes-admin"]
    link = found[0]["link"]
    rows = data_at(client, link)["events"]["rows"]
    assert rows
    assert {row["actor_name"] for row in rows} == {"kubernetes-admin"}


def test_why_before_a_name_leads_to_the_answer(client: httpx.Client) -> None:
    found = data_at(client, f"{AT}/find?q=why big")
    assert [one["link"] for one in found["objects"]][:1] == [f"{AT}/why/{GANG}"]
    assert found["why"]
    assert not found["events"]
    assert client.get(found["objects"][0]["link"]).status_code == 200

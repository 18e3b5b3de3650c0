"""The zone of a page's times is in its link: they are shown in it, and read in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from web_pages import PATHS, data_at, links_of, page_at, pages_of

AT = "/@1901"
GANG = "job/default/big-gang"
VIENNA = "tz=Europe/Vienna"
EVERY = ("", "overview", *PATHS, f"why/{GANG}", GANG, "diff?vs=@1500")
IN_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|\b01:5\d:\d\d")
AS_WRITTEN = re.compile(r"<(code|pre|script|select)\b.*?</\1>", re.DOTALL)


@pytest.fixture(scope="module")
def client(demo_log: Path) -> Iterator[httpx.Client]:
    with pages_of(demo_log) as found:
        yield found


def _place(path: str) -> str:
    place = f"{AT}/{path}".rstrip("/")
    return f"{place}{'&' if '?' in path else '?'}{VIENNA}"


def _shown(text: str) -> str:
    """Return the text of a page, without what is copied from it."""
    return re.sub("<[^>]*>", "", AS_WRITTEN.sub("", text))


@pytest.mark.parametrize("path", EVERY)
def test_all_times_of_a_page_are_in_its_zone(client: httpx.Client, path: str) -> None:
    answer = client.get(_place(path))
    assert answer.status_code == 200
    shown = _shown(answer.text)
    assert "at 02:53:36 (@1901)" in shown
    assert IN_UTC.findall(shown) == []


@pytest.mark.parametrize("path", ["jobs", "queues/over-time", GANG, "sessions"])
def test_links_keep_the_zone(client: httpx.Client, path: str) -> None:
    page = page_at(client, _place(path))
    links = [link for link in links_of(page) if link.startswith("/@")]
    assert links
    assert [link for link in links if "tz=Europe/Vienna" not in link] == []


def test_times_are_read_in_the_zone(client: httpx.Client) -> None:
    def moved(point: str, zone: str) -> str:
        answer = client.get("/@go", params={"point": point, "tz": zone, "page": "jobs"})
        return str(answer.headers["location"]).partition("?")[0]

    utc = moved("01:53:36", "")
    assert utc.endswith("/jobs")
    assert moved("02:53:36", "Europe/Vienna") == utc == moved("2026-11-21T01:53:36Z", "+01:00")
    there = client.get(f"/@02:53:36/jobs?{VIENNA}").headers["location"]
    assert there == f"{utc}?{VIENNA}"
    box = page_at(client, f"{AT}/diff?vs=02:53:02&{VIENNA}").text
    assert "from 02:53:0" in " ".join(box.split())


def test_json_and_commands_stay_in_utc(client: httpx.Client) -> None:
    for path in ("overview", f"why/{GANG}", GANG):
        assert data_at(client, f"{AT}/{path}?{VIENNA}") == data_at(client, f"{AT}/{path}")
    code = re.findall("<code>(.*?)</code>", client.get(f"{AT}/overview?{VIENNA}").text)
    assert code
    assert not any("+01:00" in text for text in code)


def test_a_zone_that_does_not_exist_is_said(client: httpx.Client) -> None:
    text = page_at(client, f"{AT}/jobs?tz=Vienna/Europe").text
    assert "tz=Vienna/Europe is no time zone, so times are in UTC." in text
    assert "01:53:36" in text


def test_an_error_keeps_the_zone(client: httpx.Client) -> None:
    links = links_of(page_at(client, f"{AT}/none?{VIENNA}", status=404))
    assert f"{AT}/queues?{VIENNA}" in links

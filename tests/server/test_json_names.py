"""Objects whose names end in ``.json`` are not taken for the data of others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import unquote

import httpx
import pytest
from html_pages import Page
from web_pages import data_at, links_of, page_at, pages_of

import plinian

NAMES = ("n", "n.json", "n.json.json")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Return a client of a log with such nodes."""
    folder = tmp_path_factory.mktemp("names")
    for at, name in enumerate(NAMES, start=1):
        metadata = {"name": name, "uid": f"u-{at}", "resourceVersion": str(at)}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {}}
        (folder / f"{at}.json").write_text(json.dumps(node))
    with plinian.open(folder / "log.db", create=True) as log:
        log.ingest([folder / f"{at}.json" for at in (1, 2, 3)])
    with pages_of(folder / "log.db") as found:
        yield found


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_page_and_data(client: httpx.Client, name: str) -> None:
    place = f"/@3/node/{name}/"
    assert f"node/{name} at @3 " in page_at(client, place).text
    assert data_at(client, f"/@3/node/{name}")["name"] == f"node/{name}"
    answer = client.get(f"/@rv:2/node/{name}/")
    assert unquote(answer.headers["location"]).startswith("/@2/node/")
    assert unquote(answer.headers["location"]).endswith(f"/{name}/")


def test_links_lead_to_the_page_of_the_object(client: httpx.Client) -> None:
    for path in ("/@3/nodes", "/@3/node/n.json/"):
        links = [one for one in links_of(page_at(client, path)) if one.startswith("/@3/node/")]
        assert links
        for link in links:
            named = link.partition("?")[0].partition("/node/")[2].removesuffix("/")
            answer = client.get(link)
            assert f"node/{named} at @3 " in Page(answer.text).text, link

"""Pages of a log without a process: requests go straight to the application."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from html_pages import Page
from starlette.testclient import TestClient

from plinian.replay.facade.documents import document
from plinian.replay.server.app import application
from plinian.replay.server.settings import ServerSettings
from plinian.replay.server.withheld import Withheld, inputs_named

PATHS = (
    "jobs",
    "jobs/over-time",
    "queues",
    "queues/over-time",
    "nodes",
    "nodes/over-time",
    "sessions",
    "session",
    "compare",
    "diff",
    "what-if",
    "check",
    "behaviours",
    "races",
    "status",
    "help",
)
"""The pages that every log has, beside the timeline."""


@contextmanager
def pages_of(place: Path) -> Iterator[httpx.Client]:
    """Return a client of a log's pages."""
    app = application(ServerSettings(place=str(place)))
    with TestClient(app, base_url="http://localhost", follow_redirects=False) as client:
        yield client


def page_at(client: httpx.Client, path: str, *, status: int = 200) -> Page:
    """Return a page that was read strictly."""
    answer = client.get(path)
    assert answer.status_code == status, f"{path}: {answer.status_code} {answer.text[:500]}"
    return Page(answer.text)


def finished_page(client: httpx.Client, path: str) -> Page:
    """Return a page that is worked on in the background, when its answer is there."""
    data_at(client, path)
    return page_at(client, path)


def data_at(client: httpx.Client, path: str) -> Any:
    """Return the data of a page's twin."""
    place, mark, query = path.partition("?")
    answer = client.get(f"{place}.json{mark}{query}")
    assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:500]}"
    return answer.json()["data"]


def links_of(page: Page) -> list[str]:
    """Return where the links of a page lead."""
    return [str(made["href"]) for tag, made in page.elements if tag == "a" and made.get("href")]


def shown(answer: Any) -> Any:
    """Return what the command prints of an answer, without the folders of inputs."""
    found = document(answer)
    return Withheld(inputs_named(found)).document(found)

"""Names that mean something to browsers, terminals or databases are only text in answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from serving import Running, ended, serving

import plinian
from plinian.replay.server.api.table import OPERATIONS
from plinian.replay.server.plain_json import ascii_json

NAMES = (
    "<script>alert(1)</script>",
    "\x1b[2J\x1b]0;owned\x07",
    "two\nlines\r\n\r\nHTTP/1.1 200 OK",
    "back\x08space\x7f\x9b31m",
    "right\u202eto\u2028left",
    "'; DROP TABLE event; --",
    "../../../../etc/passwd",
    "%00%0a%2f",
    'quote"s and \\ and {braces}',
    "x" * 900,
)
API = "/plinian/v1"


def _pod(number: int, name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"u-{number}",
            "resourceVersion": str(100 + number),
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {name: name},
            "annotations": {"scheduling.k8s.io/group-name": name},
        },
        "spec": {"schedulerName": "volcano", "containers": [{"name": name, "image": name}]},
        "status": {"phase": "Pending"},
    }


def _queue(number: int, name: str) -> dict[str, object]:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name, "uid": f"q-{number}", "resourceVersion": str(200 + number)},
        "spec": {"weight": 1},
    }


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a server of a log whose objects have these names."""
    folder = tmp_path_factory.mktemp("hostile")
    items = [make(number, name) for make in (_pod, _queue) for number, name in enumerate(NAMES)]
    file = folder / "list.json"
    whole = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "300"}}
    file.write_text(json.dumps({**whole, "items": items}))
    with plinian.open(folder / "hostile.db", create=True) as log:
        log.ingest([file])
    running = serving(folder / "hostile.db")
    yield running
    ended(running)


def checked(running: Running, path: str, **query: str) -> tuple[int, str]:
    """Return the status and the text of an answer, after a look at its bytes."""
    answer = running.client.get(f"{API}/{path}", params=query)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    text = answer.content.decode("utf-8")
    assert all(character >= " " for character in text)
    assert "\x7f" not in text
    json.loads(text)
    return answer.status_code, text


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_a_name_in_every_answer(hostile: Running, name: str) -> None:
    status, text = checked(hostile, "history", object=f"pod/{name}")
    if "/" not in name:
        assert status == 200, text
        assert json.loads(text)["result"]["object"]["name"] == name
    for operation in OPERATIONS:
        query = {
            one.name: f"queue/{name}" if one.name == "object" else name
            for one in operation.parameters
            if one.required and not one.in_path and not one.choices
        }
        path = operation.url.format(kind="pods", table="pods", name=quote(name, safe=""))
        assert checked(hostile, path, **query)[0] in {200, 400, 404, 503}, operation.name


def test_all_names_are_in_the_lists(hostile: Running) -> None:
    _, text = checked(hostile, "objects/pods")
    assert {one["metadata"]["name"] for one in json.loads(text)["result"]} == {*NAMES}
    _, text = checked(hostile, "state/queues")
    assert {one["queue"] for one in json.loads(text)["result"]} >= {*NAMES}


@pytest.mark.slow
def test_half_a_character_is_written_as_ascii() -> None:
    assert ascii_json({"name": "\ud800<\x7f"}) == b'{"name":"\\ud800<\\u007f"}'

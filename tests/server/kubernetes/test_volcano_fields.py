"""Volcano's kinds have columns and descriptions that people can use, also without definitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from informers import TABLE
from serving import Running
from web_pages import pages_of

import plinian
from plinian.replay.server.kubernetes.read.volcano_fields import FIELDS, described

QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"


def columns(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a table by the names of its columns."""
    names = [column["name"] for column in table["columnDefinitions"]]
    return [dict(zip(names, row["cells"], strict=True)) for row in table["rows"]]


def test_queues_print_their_state_and_what_they_hold(server: Running) -> None:
    table = server.client.get(f"/at/rv:1080{QUEUES}", headers={"Accept": TABLE}).json()
    rows = {row["Name"]: row for row in columns(table)}
    assert rows["gold"]["PARENT"] == "root"
    assert rows["gold"]["STATE"] == "Open"
    assert "cpu=17" in rows["gold"]["ALLOCATED"].split(",")
    wide = {one["name"] for one in table["columnDefinitions"] if one["priority"]}
    assert wide == {"PENDING", "INQUEUE", "RUNNING"}


def test_a_queue_of_odd_fields_breaks_no_table(tmp_path: Path) -> None:
    queue = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "odd", "uid": "u", "resourceVersion": "1"},
        "status": {"state": 7, "allocated": ["cpu"], "running": "many"},
    }
    (tmp_path / "q.json").write_text(json.dumps(queue))
    with plinian.open(tmp_path / "log.db", create=True) as log:
        log.ingest(tmp_path / "q.json")
    with pages_of(tmp_path / "log.db") as client:
        (row,) = columns(client.get(QUEUES, headers={"Accept": TABLE}).json())
    assert (row["Name"], row["ALLOCATED"], row["RUNNING"]) == ("odd", "", None)


def schemas(server: Running, group: str, version: str) -> dict[str, Any]:
    """Return the schemas of a group."""
    document = server.client.get(f"/openapi/v3/apis/{group}/{version}").json()
    found: dict[str, Any] = document["components"]["schemas"]
    return found


def test_fields_of_podgroups_are_described_with_those_that_objects_have(server: Running) -> None:
    found = schemas(server, "scheduling.volcano.sh", "v1beta1")
    group = found["sh.volcano.scheduling.v1beta1.PodGroup"]
    assert "A gang" in group["description"]
    assert "holds no schema of this kind" in group["description"]
    spec = group["properties"]["spec"]
    assert spec["properties"]["minMember"]["type"] == "integer"
    assert "start together" in spec["properties"]["minMember"]["description"]
    assert spec["properties"]["minResources"]["properties"]["cpu"] == {"type": "string"}


@pytest.mark.parametrize("pair", FIELDS, ids=lambda pair: pair[1])
def test_every_description_is_a_sentence_of_a_field_that_can_be_reached(
    pair: tuple[str, str],
) -> None:
    schema = described(pair)
    for path, (_, text) in FIELDS[pair].items():
        part = schema
        for name in filter(None, path.split(".")):
            part = part.get("items", part)["properties"][name]
        assert part["description"] == text
        assert text.endswith(".")
        assert part["type"]


def test_a_kind_of_others_has_no_description() -> None:
    assert described(("acme.io", "Widget")) == {}

"""Fields of a wrong type in objects of the log: no object makes the table of its kind fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from serving import Running, serving_here
from wrong_types import WRONG, changed, wrongs

from campaign.kinds import document_of
from plinian.engine.errors import EventMalformed
from plinian.engine.events import Reference
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.state.clock import span_at
from plinian.engine.state.extract import extract_fact
from plinian.engine.state.truth_fold import Entry
from plinian.replay.cli.main import app
from plinian.replay.ingest.ingest_run import IngestOptions, ingest_at
from plinian.replay.server.kubernetes.read.forms import Shaper
from plinian.replay.server.kubernetes.read.openapi_v3 import schema_of
from plinian.replay.server.kubernetes.tables.cells import BUILT_IN
from plinian.replay.server.kubernetes.tables.columns import INVALID
from plinian.replay.server.kubernetes.tables.other_cells import OTHERS
from plinian.replay.server.kubernetes.wire.api_resources import ApiResource, catalog_of
from plinian.replay.server.kubernetes.wire.list_options import AnswerForm, ObjectShape
from plinian.replay.server.settings import ServerSettings

KINDS = [
    one
    for one in catalog_of({}, []).resources
    if one.pair in {*BUILT_IN, *OTHERS} and schema_of(one) is not None
]
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
NOW = span_at(1_800_000_000_000_000)
SHALLOW, STRIDE = 4, 41
"""Places with so many steps are all tried, and every so many-th of the others."""


def tried(document: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield some of the documents with one wrong field."""
    for number, one in enumerate(wrongs(document)):
        if len(one[0]) <= SHALLOW or not number % STRIDE:
            yield one


@pytest.mark.parametrize("resource", KINDS, ids=lambda one: f"{one.group}-{one.kind}")
def test_every_cell_of_a_kind_is_made_whatever_its_object_holds(resource: ApiResource) -> None:
    shaper = Shaper(AnswerForm(ObjectShape.TABLE, "v1", "None"), resource, NOW)
    made = 0
    for path, value, document in tried(document_of(resource)):
        body = msgspec.json.encode(document)
        try:
            fact = extract_fact(*resource.pair, body)
        except EventMalformed:  # No log holds it.
            continue
        reference = Reference(*resource.pair, "ml", "a", "u")
        entry = Entry(reference=reference, position=1, revision=1, fact=fact)
        row = msgspec.json.decode(shaper.one(entry, body))["rows"][0]
        made += 1
        for cell in row["cells"]:
            assert not isinstance(cell, dict | list), (path, value)
    assert made > 100


def test_a_cell_that_cannot_be_made_says_so_and_the_others_are_there() -> None:
    node = next(one for one in KINDS if one.kind == "Node")
    document = changed(document_of(node), ("status", "addresses"), ["x"])
    body = msgspec.json.encode(document)
    entry = Entry(
        reference=Reference("", "Node", "", "a", "u"),
        position=1,
        revision=1,
        fact=extract_fact("", "Node", body),
    )
    shaper = Shaper(AnswerForm(ObjectShape.TABLE, "v1", "None"), node, NOW)
    cells = msgspec.json.decode(shaper.one(entry, body))["rows"][0]["cells"]
    assert (cells[0], cells.count(INVALID)) == ("a", 2)


SOME = ("Node", "Event", "Pod", "Service", "PersistentVolume", "ResourceQuota", "Job")
"""Kinds that are ingested with wrong fields, and then asked for at every door."""


@pytest.fixture(scope="module")
def odd_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log of objects with one wrong field each, as far as a log takes them."""
    folder = tmp_path_factory.mktemp("odd")
    items = []
    for resource in (one for one in KINDS if one.kind in SOME):
        whole = document_of(resource)
        shallow = [one for one in wrongs(whole) if len(one[0]) <= SHALLOW - 1 and one[1] in WRONG]
        for number, (_, _, document) in enumerate(islice(shallow, 0, None, 5)):
            own = f"{resource.kind.lower()}-{resource.group.partition('.')[0] or 'core'}-{number}"
            names = {"name": own, "uid": own, "resourceVersion": str(len(items) + 1)}
            item = {**document, "metadata": {**document["metadata"], **names}}
            with suppress(EventMalformed):  # An input with it is refused, and says which it is.
                version_event(item, verb="created", source="a list", line=1)
                items.append(item)
    listed = folder / "list.json"
    listed.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    place = folder / "odd.db"
    ingest_at(str(place), [str(listed)], IngestOptions())
    return place


@pytest.fixture(scope="module")
def odd(odd_log: Path) -> Iterator[Running]:
    """Return a server of it."""
    with serving_here(ServerSettings(place=str(odd_log), port=0)) as running:
        yield running


KUBERNETES = (
    *("/api/v1/nodes", "/api/v1/pods", "/api/v1/events", "/apis/events.k8s.io/v1/events"),
    *("/api/v1/services", "/api/v1/persistentvolumes", "/api/v1/resourcequotas"),
    *("/apis/batch/v1/jobs", "/api/v1/namespaces"),
)


@pytest.mark.parametrize("path", KUBERNETES)
def test_the_kubernetes_api_shows_a_kind_with_odd_objects(odd: Running, path: str) -> None:
    for accept in (
        TABLE,
        {},
        {"Accept": TABLE["Accept"].replace("Table", "PartialObjectMetadata")},
    ):
        found = odd.client.get(path, headers=accept)
        assert found.status_code == 200, found.text
        assert (
            len(found.json().get("rows", found.json().get("items"))) > (path != KUBERNETES[-1]) * 9
        )
    selected = odd.client.get(
        path, params={"fieldSelector": "metadata.name!=x", "labelSelector": "!x"}
    )
    assert selected.status_code == 200


@pytest.mark.parametrize(
    "selector", ["spec.nodeName=x", "status.phase!=x", "spec.hostNetwork=true"]
)
def test_a_selector_passes_over_fields_that_are_no_single_value(
    odd: Running, selector: str
) -> None:
    found = odd.client.get("/api/v1/pods", params={"fieldSelector": selector})
    assert found.status_code == 200, found.text


@pytest.mark.parametrize("kind", ["nodes", "pods", "events", "services", "jobs", "namespaces"])
@pytest.mark.parametrize("at", ["/plinian/v1/objects/{}", "/@end/objects/{}.json"])
def test_other_doors_of_the_server_show_it(odd: Running, kind: str, at: str) -> None:
    found = odd.client.get(at.format(kind), follow_redirects=True)
    assert found.status_code < 500, found.text


@pytest.mark.parametrize(
    "command",
    [
        *(["get", kind, "-A", "-o", "wide"] for kind in ("nodes", "pods", "events", "services")),
        ["get", "all", "-A"],
        ["describe", "nodes,pods,services,events", "-A"],
        ["status"],
        ["session", "--assume"],
        ["belief", "nodes"],
        ["drift"],
        ["check"],
    ],
    ids=" ".join,
)
def test_the_command_line_shows_it(odd_log: Path, command: list[str]) -> None:
    found = CliRunner().invoke(app, [*command, "--log", str(odd_log)])
    assert found.exception is None or isinstance(found.exception, SystemExit), found.output
    assert found.exit_code in {0, 1, 2}, found.output
    assert "Traceback" not in found.output

"""What makes a list incomplete is said; a folder that is known to be whole counts as complete."""

from __future__ import annotations

import io
import json
import tarfile
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from clusters import compact, initial_end, listed, pod, watched
from plinian.engine.errors import UsageError
from plinian.engine.log import Query, open_log
from plinian.replay.cli.main import app
from plinian.replay.coverage.coverage import reasons, unknown_at
from plinian.replay.ingest.ingest_run import IngestOptions, ingest
from plinian.replay.logs.log import opened
from plinian.replay.logs.log_status import status_of

NODE, POD = ("", "Node"), ("", "Pod")


def node(name: str, revision: int = 5, **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(revision)}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, **fields}


def damaged(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "metadata": {**document["metadata"], "labels": 7}}


def not_known(place: Path, *kinds: tuple[str, str]) -> list[str]:
    with opened(place) as log:
        return reasons(unknown_at(log, log.moment(), kinds))


def ingested(tmp_path: Path, *inputs: bytes, **options: Any) -> Path:
    place, paths = tmp_path / "a.db", []
    for number, data in enumerate(inputs):
        path = tmp_path / f"input-{number}"
        path.write_bytes(data)
        paths.append(str(path))
    with open_log(place, create=True) as log:
        ingest(log, paths, IngestOptions(**options))
    return place


def test_a_skipped_record_is_named_as_what_makes_its_list_incomplete(tmp_path: Path) -> None:
    items = [node("n1"), damaged(node("n2")), pod("a", 7)]
    data = compact(listed(*items, kind="List", resourceVersion=""))
    place = ingested(tmp_path, data, skip_malformed=True)
    (reason,) = not_known(place, NODE)
    assert "nodes: not fully known" in reason
    assert "because 1 record of it was skipped" in reason
    assert "input-0:1: $.items[1].metadata.labels" in reason
    assert not_known(place, POD) == [], "the list of another kind lacks nothing"


def test_a_record_of_an_unknown_kind_may_be_of_any(tmp_path: Path) -> None:
    data = compact(listed(node("n1"), {"metadata": 7}, pod("a", 7), kind="List"))
    place = ingested(tmp_path, data, skip_malformed=True)
    assert all("1 record of it was skipped" in one for one in not_known(place, NODE, POD))


def test_a_watch_and_an_audited_list_name_the_skipped_record_too(tmp_path: Path) -> None:
    lines = watched(("ADDED", damaged(pod("a", 3))), ("ADDED", pod("b", 4)), initial_end(9))
    place = ingested(tmp_path, lines, skip_malformed=True)
    (reason,) = not_known(place, POD)
    assert "input-0:1: $.object.metadata.labels" in reason


def test_a_later_complete_list_ends_the_gap_and_the_reason_with_it(tmp_path: Path) -> None:
    broken = compact(listed(damaged(pod("a", 3)), pod("b", 4), resourceVersion="9"))
    whole = compact(listed(pod("a", 3), pod("b", 4), resourceVersion="12"))
    place = ingested(tmp_path, broken, whole, skip_malformed=True)
    assert not_known(place, POD) == []
    with opened(place) as log:
        (before,) = reasons(unknown_at(log, log.moment("rv:9"), [POD]))
    assert "was skipped" in before


def test_the_command_says_what_to_do_about_the_record(tmp_path: Path) -> None:
    data = compact(listed(node("n1"), damaged(node("n2")), kind="NodeList"))
    place = ingested(tmp_path, data, skip_malformed=True)
    refused = CliRunner().invoke(app, ["get", "nodes", "--strict", "--log", str(place)])
    assert refused.exit_code != 0
    assert "mend the skipped record" in refused.stderr


def backup(tmp_path: Path, *objects: dict[str, Any], name: str = "backup.tar.gz") -> str:
    path = tmp_path / name
    with tarfile.open(path, "w:gz") as archive:
        for number, document in enumerate(objects):
            text = json.dumps(document).encode()
            member = tarfile.TarInfo(f"resources/{document['kind']}/{number}.json")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return str(path)


OBJECTS = (node("n1", 5), node("n2", 9), pod("a", 7), pod("b", 12))


def test_files_of_single_objects_are_complete_only_if_that_is_said(tmp_path: Path) -> None:
    path = backup(tmp_path, *OBJECTS)
    for complete in (False, True):
        place = tmp_path / f"{complete}.db"
        with open_log(place, create=True) as log:
            ingest(log, [path], IngestOptions(complete=complete))
        assert (not_known(place, NODE, POD) == []) == complete
        assert "queues" in not_known(place, ("scheduling.volcano.sh", "Queue"))[0]


def test_what_is_asserted_is_stored_and_shown_as_such(tmp_path: Path) -> None:
    place = tmp_path / "a.db"
    with open_log(place, create=True) as log:
        ingest(log, [backup(tmp_path, *OBJECTS)], IngestOptions(complete=True))
        lists = [one.event for one in log.read(Query(kinds=("list.observed",)))]
    assert len(lists) == 2
    assert all(b'"asserted":true' in event.payload for event in lists)
    with opened(place) as read:
        coverage = status_of(read).coverage
    assert [stretch.by for kind in coverage for stretch in kind.complete] == [("asserted",)] * 2
    shown = CliRunner().invoke(app, ["status", "--log", str(place)])
    assert "asserted" in shown.stdout


def test_a_skipped_object_breaks_what_was_asserted_of_its_kind(tmp_path: Path) -> None:
    path, place = backup(tmp_path, *OBJECTS, damaged(node("n3"))), tmp_path / "a.db"
    with open_log(place, create=True) as log:
        ingest(log, [path], IngestOptions(complete=True, skip_malformed=True))
    (reason,) = not_known(place, NODE)
    assert "1 record of it was skipped" in reason
    assert not_known(place, POD) == []


def test_what_is_asserted_depends_on_no_order_of_inputs(tmp_path: Path) -> None:
    halves = [
        backup(tmp_path, *OBJECTS[:2], name="one.tar.gz"),
        backup(tmp_path, *OBJECTS[2:], name="two.tar.gz"),
    ]
    found = []
    for number, paths in enumerate(permutations(halves)):
        with open_log(tmp_path / f"{number}.db", create=True) as log:
            ingest(log, paths, IngestOptions(complete=True))
            found.append([(one.event.kind, one.event.payload) for one in log.read(Query())])
    assert found[0] == found[1]


def test_lists_cannot_be_complete_and_partial(tmp_path: Path) -> None:
    with (
        open_log(tmp_path / "a.db", create=True) as log,
        pytest.raises(UsageError, match="complete and partial"),
    ):
        ingest(log, ["x"], IngestOptions(complete=True, partial_lists=True))


def test_what_is_said_of_many_files_is_said_once(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "nodes.json").write_bytes(compact(listed(node("a"), kind="NodeList")))
    for name in ("jobs.json", "pods.json", "services.json"):
        (folder / name).write_bytes(compact(listed(kind="List")))
    with open_log(tmp_path / "log.db", create=True) as store:
        summary = ingest(store, [str(folder)], IngestOptions())
    text = "the list on line 1 is empty: it has no items"
    assert [note for note in summary.notes if text in note] == [
        f"{folder / 'jobs.json'} and 2 more files: {text}"
    ]

"""``ingest --explain FILE:LINE`` says what a line becomes, and stores nothing."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import plinian
from clusters import compact, listed, pod, watched
from plinian.engine.errors import FormatUnknown, UsageError
from plinian.replay.cli.main import app
from plinian.replay.ingest.explain import Explanation, explain

KLOG = (
    "I1128 10:00:00.100001       1 enqueue.go:45] Enter Enqueue ...\n"
    "I1128 10:00:00.100002       1 enqueue.go:63] Added Queue <q> for Job <ml/a>\n"
    "E1128 10:00:00.200004       1 session.go:512] failed to update the job <ml/a>\n"
    "the rest of the message\n"
)
AUDIT = {
    "kind": "Event",
    "apiVersion": "audit.k8s.io/v1",
    "level": "Metadata",
    "auditID": "a",
    "stage": "ResponseComplete",
    "verb": "get",
    "user": {"username": "ann"},
    "objectRef": {"resource": "pods", "namespace": "ml", "name": "a"},
    "responseStatus": {"code": 200},
    "requestReceivedTimestamp": "2026-11-28T10:00:00.000000Z",
    "stageTimestamp": "2026-11-28T10:00:00.500000Z",
}
LIST = json.dumps(listed(pod("a"), pod("b", 7)), indent=2)
OF_B = LIST[: LIST.index('"name": "b"')].count("\n") + 1
TWO_CHANGES = watched(("ADDED", pod("a", 1)), ("MODIFIED", pod("a", 2)))
YAML = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ml, uid: u, resourceVersion: '7'}\n"
)


def asked(tmp_path: Path, text: str | bytes, line: int, name: str = "input") -> Explanation:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return explain(f"{path}:{line}")


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (KLOG, 1, ("klog", 1, ["action.entered"], ())),
        (KLOG, 2, ("klog", 2, [], ("info line that is no decision",))),
        (KLOG, 4, ("klog", 3, ["message.logged"], ())),
        (json.dumps(AUDIT), 1, ("audit-log", 1, [], ("read request",))),
        (LIST, OF_B, ("object-list", OF_B - 4, ["pod.observed"], ())),
        (YAML, 2, ("object-yaml", 1, ["pod.observed"], ())),
        (TWO_CHANGES, 2, ("watch-stream", 2, ["pod.updated"], ())),
    ],
)
def test_a_line_of_every_format_is_explained(
    text: str | bytes, line: int, expected: tuple[object, ...], tmp_path: Path
) -> None:
    found = asked(tmp_path, text, line)
    kinds = [event.kind for event in found.events]
    assert (found.format, found.record, kinds, found.skipped) == expected


def test_a_malformed_record_is_explained_by_its_fault(tmp_path: Path) -> None:
    found = asked(tmp_path, compact(listed(pod("a"), pod("b", uid=7))), 1)
    assert found.total == 1
    assert any("$.items[1].metadata.uid" in reason for reason in found.skipped)


def test_what_the_line_was_wrapped_in_is_said(tmp_path: Path) -> None:
    text = "".join(f"> {line}\n" for line in KLOG.splitlines())
    found = asked(tmp_path, text, 3)
    assert found.removed == ("the marks of a quotation",)
    assert [event.kind for event in found.events] == ["message.logged"]


def test_a_member_of_an_archive_is_named_as_ingest_names_it(tmp_path: Path) -> None:
    place = tmp_path / "all.tar.gz"
    with tarfile.open(place, "w:gz") as archive:
        for name, text in (("one.log", KLOG), ("two.log", KLOG)):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    found = explain(f"{place}!two.log:2")
    assert found.source.endswith("!two.log")
    packed = tmp_path / "one.log.gz"
    packed.write_bytes(gzip.compress(KLOG.encode()))
    assert explain(f"{packed}:1").events[0].kind == "action.entered"


def test_the_content_of_a_secret_is_not_shown(tmp_path: Path) -> None:
    secret = {**pod("s"), "kind": "Secret", "data": {"password": "aHVudGVyMg=="}}
    found = asked(tmp_path, compact(listed(secret, kind="List")), 1)
    assert "aHVudGVyMg" not in str(found)


@pytest.mark.parametrize("place", ["x", "x:", "x:0", "x:-1", ":3", "x:five"])
def test_a_place_that_is_no_line_is_refused(place: str) -> None:
    with pytest.raises(UsageError) as fault:
        explain(place)
    assert "FILE:LINE" in fault.value.now


def test_a_line_after_the_last_one_and_a_file_of_no_format_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has 4 lines"):
        asked(tmp_path, KLOG, 5)
    with pytest.raises(FormatUnknown):
        asked(tmp_path, "Dear engineer on call,\n", 1)


def test_the_command_prints_it_and_stores_nothing(tmp_path: Path) -> None:
    path, place = tmp_path / "scheduler.log", tmp_path / "a.db"
    path.write_text(KLOG)
    run = CliRunner().invoke
    shown = run(app, ["ingest", "--explain", f"{path}:2", "--log", str(place)])
    assert shown.exit_code == 0
    assert "info line that is no decision" in shown.stdout
    assert not place.exists()
    as_json = run(app, ["ingest", "--explain", f"{path}:1", "-o", "json"])
    assert json.loads(as_json.stdout)["events"][0]["kind"] == "action.entered"
    assert plinian.explain(f"{path}:1").format == "klog"
    both = run(app, ["ingest", str(path), "--explain", f"{path}:2"])
    assert both.exit_code == 2
    assert run(app, ["ingest"]).exit_code == 2


def test_a_line_that_continues_another_one_is_said_to(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.log"
    path.write_text(KLOG)
    ran = CliRunner().invoke(app, ["ingest", "--explain", f"{path}:4", "--year", "2026"])
    assert "begins on line 3, and this line continues it" in ran.output

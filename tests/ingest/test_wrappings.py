"""What people paste: lines with a prefix, quoted, indented, or in the JSON of a collector."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clusters import compact, listed, pod, watched
from plinian.engine.errors import EventMalformed, FormatUnknown, InputTruncated
from plinian.engine.events import Event
from plinian.engine.ingest.reading import log_lines
from plinian.engine.log import Query, open_log
from plinian.replay.ingest.explain import explain
from plinian.replay.ingest.ingest_run import IngestOptions, IngestSummary, ingest

BEGIN = "volcano.sh/volcano/pkg/scheduler/framework.(*Session).dispatch(0xc1)\n\t/go/session.go:512"
SESSION = "a81ef8ba-14a5-4a1f-96f5-cb02e74eeb5f"
LOG = [
    (
        f"I1128 10:00:00.100001       1 session.go:193] Open Session {SESSION} with <3> Job and "
        "<2> Queues"
    ),
    "I1128 10:00:00.100002       1 enqueue.go:45] Enter Enqueue ...",
    "I1128 10:00:00.100003       1 enqueue.go:63] Added Queue <q> for Job <ml/a>",
    "E1128 10:00:00.200004       1 session.go:512] failed to update the job <ml/a>",
    f"I1128 10:00:00.300005       1 session.go:240] Close Session {SESSION}",
]
TEXT = "".join(f"{line}\n" for line in LOG)
TIMES = [f"2026-11-28T10:00:00.{number + 1}Z" for number in range(len(LOG))]


def prefixed(prefix: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in LOG)


def json_lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def docker(line: str, time: str) -> dict[str, str]:
    return {"log": f"{line}\n", "stream": "stderr", "time": time}


def each(make: Callable[[str, str], Any]) -> list[Any]:
    return [make(line, time) for line, time in zip(LOG, TIMES, strict=True)]


def loki(*, indent: int | None = None) -> str:
    values = each(lambda line, time: [f"1795860000{time[-2]}00000000", line])[::-1]
    result = [{"stream": {"app": "volcano"}, "values": values}]
    data = {"status": "success", "data": {"resultType": "streams", "result": result}}
    return json.dumps(data, indent=indent)


def taken_apart(line: str, *, older: bool = False) -> dict[str, Any]:
    """Return a record of Cloud Logging whose agent has put the parts of a line into fields."""
    header, _, message = line.partition("] ")
    begin, clock, thread, place = header.split()
    names = {"I": "INFO", "E": "ERROR"}
    file, _, number = place.partition(":")
    where = {"source": place} if older else {}
    beside = {} if older else {"sourceLocation": {"file": file, "line": number}}
    return {
        "jsonPayload": {"message": message, "pid": thread, **where},
        "severity": names[begin[0]],
        "timestamp": f"2026-{begin[1:3]}-{begin[3:]}T{clock}Z",
        **beside,
    }


CLOUD = each(lambda line, time: {"insertId": "x", "timestamp": time, "textPayload": line})
PREFIXES = {
    "kubectl logs --prefix": "[pod/volcano-scheduler-7d9/volcano-scheduler] ",
    "stern": "volcano-scheduler-7d9 volcano-scheduler ",
    "stern of all namespaces": "volcano-system volcano-scheduler-7d9 volcano-scheduler ",
    "stern with colours": "\x1b[36mvolcano-scheduler-7d9\x1b[0m \x1b[32mvolcano-scheduler\x1b[0m ",
    "docker compose": "scheduler-1  | ",
    "journalctl": "Nov 28 10:00:00 node-1 vc-scheduler[812]: ",
    "a quotation": "> ",
    "a quotation of a quotation": "> > ",
    "spaces": "    ",
    "a tab": "\t",
}
WRAPPED = {
    **{name: prefixed(prefix) for name, prefix in PREFIXES.items()},
    "docker's json-file": json_lines(*each(docker)),
    "Cloud Logging, a record a line": json_lines(*CLOUD),
    "Cloud Logging, an array": json.dumps(CLOUD),
    "Cloud Logging, newest first": json.dumps(CLOUD[::-1], indent=2),
    "Cloud Logging, jsonPayload": json_lines(
        *each(lambda line, time: {"timestamp": time, "jsonPayload": {"message": line}})
    ),
    "Cloud Logging, fields of klog": json_lines(*map(taken_apart, LOG)),
    "Cloud Logging, fields of klog by an older agent": json.dumps(
        [taken_apart(line, older=True) for line in LOG], indent=2
    ),
    "Loki's answer": loki(),
    "Loki's answer, indented": loki(indent=2),
    "logcli, newest first": json_lines(
        *each(lambda line, time: {"labels": {}, "line": line, "timestamp": time})[::-1]
    ),
    "Elasticsearch": json.dumps(
        {
            "took": 1,
            "hits": {"hits": each(lambda line, at: {"_source": {"@timestamp": at, "log": line}})},
        }
    ),
    "CloudWatch": json.dumps(
        {
            "events": each(
                lambda line, at: {"timestamp": 1795860000000 + int(at[-2]), "message": line}
            )
        }
    ),
    "Datadog": json.dumps(
        {"data": each(lambda line, at: {"attributes": {"timestamp": at, "message": line}})}
    ),
    "journald": json_lines(
        *each(
            lambda line, at: {"__REALTIME_TIMESTAMP": f"179586000{at[-2]}000000", "MESSAGE": line}
        )
    ),
    "a quotation of lines with a prefix": prefixed(f"> {PREFIXES['stern']}"),
}


def read(
    tmp_path: Path, text: str | bytes, name: str = "pasted", **options: Any
) -> tuple[list[Event], IngestSummary]:
    path, place = tmp_path / name, tmp_path / f"{name}.db"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with open_log(place, create=True) as log:
        summary = ingest(log, [str(path)], IngestOptions(year=2026, **options))
        return [one.event for one in log.read(Query())], summary


def said(events: list[Event]) -> list[tuple[str, bytes, int | None]]:
    return [(event.kind, event.payload, event.earliest) for event in events]


@pytest.mark.parametrize("case", WRAPPED)
def test_a_wrapped_log_says_what_the_plain_one_says(case: str, tmp_path: Path) -> None:
    plain, _ = read(tmp_path, TEXT, "plain")
    wrapped, summary = read(tmp_path, WRAPPED[case])
    assert len(plain) == 4
    assert said(wrapped) == said(plain)
    assert any("read without" in note for note in summary.notes), "what was removed is said"


@pytest.mark.parametrize("case", WRAPPED)
def test_a_line_keeps_its_number_in_the_input(case: str, tmp_path: Path) -> None:
    events, _ = read(tmp_path, WRAPPED[case])
    lines = WRAPPED[case].split("\n")
    assert [event.line for event in events if "failed to update" in lines[event.line - 1]]
    assert all(1 <= event.line <= len(lines) for event in events)
    if len(lines) > len(LOG):  # Not all of it is one line.
        for event in events:
            if event.kind == "message.logged":
                assert "failed to update" in lines[event.line - 1]


@pytest.mark.parametrize("case", ["docker's json-file", "journald"])
def test_records_show_the_year_of_their_lines(case: str, tmp_path: Path) -> None:
    path = tmp_path / "wrapped.log"
    path.write_text(WRAPPED[case])
    with open_log(tmp_path / "a.db", create=True) as log:
        summary = ingest(log, [str(path)])
    assert str(summary.first_observed).startswith("2026-11-28T10:00:00.100001")


@pytest.mark.parametrize(
    ("most", "padded", "marks"),
    [(16 * 1024, 20_000, ({}, {})), (60, 0, ({"_p": "P"}, {"_p": "F"}))],
    ids=["by its length", "by a mark"],
)
def test_a_line_that_was_divided_is_one_line(
    tmp_path: Path, most: int, padded: int, marks: tuple[dict[str, str], dict[str, str]]
) -> None:
    line = LOG[3] + " " * (padded > 0) + "x" * padded
    whole = docker(line, TIMES[3])
    begin = {**whole, **marks[0], "log": line[:most]}
    end = {**whole, **marks[1], "log": f"{line[most:]}\n"}
    events, _ = read(tmp_path, json_lines(docker(LOG[0], TIMES[0]), begin, end))
    logged = [event for event in events if event.kind == "message.logged"]
    assert [b"failed to update the job <ml/a>" in event.payload for event in logged] == [True]


@pytest.mark.parametrize("mark", [{}, {"_p": "F"}, {"logtag": "F"}])
def test_records_of_a_collector_without_line_breaks_are_lines(
    tmp_path: Path, mark: dict[str, str]
) -> None:
    records = [{**docker(*one), **mark, "log": one[0]} for one in zip(LOG, TIMES, strict=True)]
    found = kinds_of(tmp_path / "collected", json_lines(*records))
    assert found == kinds_of(tmp_path / "docker", json_lines(*each(docker)))
    assert len(found) > 1


def kinds_of(folder: Path, text: str) -> list[str]:
    folder.mkdir()
    events, _ = read(folder, text)
    return [event.kind for event in events]


def audit(number: int) -> dict[str, Any]:
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": f"id-{number}",
        "stage": "ResponseComplete",
        "verb": "delete",
        "user": {"username": "ann"},
        "objectRef": {"resource": "pods", "namespace": "ml", "name": f"a-{number}"},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": f"2026-11-28T10:00:0{number}.000000Z",
        "stageTimestamp": f"2026-11-28T10:00:0{number}.500000Z",
    }


AUDITED = [audit(number) for number in range(3)]
WRAPPED_AUDIT = {
    "an array": json.dumps(AUDITED),
    "an indented array": json.dumps(AUDITED, indent=2),
    "docker": json_lines(*(docker(json.dumps(one), TIMES[0]) for one in AUDITED)),
    "text": json.dumps([{"textPayload": json.dumps(one)} for one in AUDITED]),
    "objects": json_lines(*({"jsonPayload": one, "insertId": "x"} for one in AUDITED)),
    "a quotation": "".join(f"> {line}\n" for line in json_lines(*AUDITED).splitlines()),
}


@pytest.mark.parametrize("case", WRAPPED_AUDIT)
def test_a_wrapped_audit_log_says_what_the_plain_one_says(case: str, tmp_path: Path) -> None:
    plain, _ = read(tmp_path, json_lines(*AUDITED), "plain")
    wrapped, _ = read(tmp_path, WRAPPED_AUDIT[case])
    assert said(wrapped) == said(plain)
    assert sum(event.kind == "request.accepted" for event in wrapped) == 3


def test_a_null_in_an_audit_record_counts_as_missing(tmp_path: Path) -> None:
    record = {**audit(0), "objectRef": {**audit(0)["objectRef"], "uid": None}, "userAgent": None}
    events, _ = read(tmp_path, json_lines(record))
    assert any(event.reference.name == "a-0" for event in events)


WATCHED = [("ADDED", pod("a", 3)), ("MODIFIED", pod("a", 5)), ("MODIFIED", pod("b", 6))]


def test_an_array_of_watch_events_is_a_watch(tmp_path: Path) -> None:
    plain, _ = read(tmp_path, watched(*WATCHED), "plain")
    array = [{"type": kind, "object": about} for kind, about in WATCHED]
    for number, indent in enumerate((None, 2)):
        wrapped, _ = read(tmp_path, json.dumps(array, indent=indent), f"array-{number}")
        assert said(wrapped) == said(plain)


def test_a_watch_whose_first_line_lacks_its_begin_is_read_from_the_second(tmp_path: Path) -> None:
    data = watched(*WATCHED)
    events, summary = read(tmp_path, data[40:])
    assert [event.resource_version for event in events if event.reference.uid] == ["5", "6"]
    assert [event.line for event in events if event.reference.uid] == [2, 3]
    assert any("line 1, which lacks its begin" in note for note in summary.notes)
    followed = [event for event in events if event.kind == "watch.followed"]
    assert all(b'"begin":"changes"' in event.payload for event in followed)


@pytest.mark.parametrize("text", [json_lines(*AUDITED), json_lines(*each(docker))])
def test_a_log_that_is_cut_in_its_first_line_is_read_from_the_second(
    text: str, tmp_path: Path
) -> None:
    whole, _ = read(tmp_path, text, "whole")
    cut, summary = read(tmp_path, text[30:])
    assert 0 < len(cut) <= len(whole)
    assert all(event.line != 1 for event in cut)
    assert any("lacks its begin" in note for note in summary.notes)


@pytest.mark.parametrize("records", [AUDITED, CLOUD])
def test_an_array_that_is_cut_between_two_records_is_cut_off(
    records: list[Any], tmp_path: Path
) -> None:
    for number, cut in enumerate((json.dumps(records)[:-1], f"{json.dumps(records)[:-1]}, ")):
        with pytest.raises(InputTruncated, match="array ends in the middle"):
            read(tmp_path, cut, f"cut-{number}")


def test_an_array_that_is_cut_off_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputTruncated):
        read(tmp_path, json.dumps(AUDITED)[:-40])
    events, _ = read(tmp_path, json.dumps(AUDITED)[:-40], "again", skip_malformed=True)
    assert sum(event.kind == "request.accepted" for event in events) == 2


PANIC = (
    "panic: runtime error: invalid memory address or nil pointer dereference\n"
    f"[signal SIGSEGV]\n\ngoroutine 1 [running]:\n{BEGIN}\n"
)
PANICS = {
    "bare": (PANIC, "scheduler"),
    "a stack alone": (PANIC[PANIC.index("goroutine") :], "scheduler"),
    "quoted": ("".join(f"> {line}\n" for line in PANIC.splitlines()), "scheduler"),
    "with a prefix": (
        "".join(f"[pod/a/b] {line}\n" for line in PANIC.splitlines()),
        "scheduler",
    ),
    "in one record": (json.dumps([{"textPayload": PANIC, "timestamp": TIMES[0]}]), "scheduler"),
    "observed": (
        (
            'E1128 10:00:00.100001       1 runtime.go:79] Observed a panic: "x"\n'
            f"goroutine 9 [running]:\n{BEGIN}\n"
        ),
        "scheduler",
    ),
    "structured": (
        (
            'E1128 10:00:00.100001       1 runtime.go:142] "Observed a panic" panic="index out of '
            'range" stacktrace=<\n\tgoroutine 9 [running]:\n'
            "\tvolcano.sh/volcano/pkg/controllers/job.(*jobcontroller).worker(...)\n >\n"
        ),
        "controllers",
    ),
}


@pytest.mark.parametrize("case", PANICS)
def test_a_panic_that_was_cut_out_of_a_log_is_read_by_its_stack(case: str, tmp_path: Path) -> None:
    text, component = PANICS[case]
    (panicked,), _ = read(tmp_path, text)
    payload = json.loads(panicked.payload)
    assert panicked.kind == "process.panicked"
    assert payload["component"] == component
    assert "volcano.sh/volcano/pkg" in payload["stack"]


def test_a_panic_alone_is_called_so_and_one_in_a_log_is_part_of_it(tmp_path: Path) -> None:
    line = "I1128 10:00:00.100001       1 allocate.go:1] Enter Allocate ...\n"
    for text, name in ((PANIC, "panic"), (f"{line}{PANIC}", "klog")):
        (tmp_path / f"{name}.txt").write_text(text)
        assert explain(str(tmp_path / f"{name}.txt:1"), year=2026).format.startswith(name)


def test_a_panic_of_another_program_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(FormatUnknown, match="its stack names none"):
        read(tmp_path, PANIC.replace("volcano.sh/volcano", "example.com/other"))


def test_a_panic_without_its_stack_is_not_said_to_have_one(tmp_path: Path) -> None:
    line = "panic: runtime error: invalid memory address or nil pointer dereference\n"
    with pytest.raises(FormatUnknown, match="without its stack") as refused:
        read(tmp_path, line)
    assert "goroutine" in str(refused.value.now)


def test_objects_on_a_page_are_read_without_what_surrounds_them(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ml, uid: u, "
    text += "resourceVersion: '7'}\nspec: {}\nstatus: {phase: Running}\n"
    plain, _ = read(tmp_path, text, "plain")
    for number, wrapped in enumerate(
        (
            f"```yaml\n{text}```\n",
            "".join(f"    {line}\n" for line in text.splitlines()),
            "".join(f"> {line}\n" for line in text.splitlines()),
        )
    ):
        events, _ = read(tmp_path, wrapped, f"page-{number}")
        assert said(events) == said(plain)


def test_a_log_inside_of_an_object_is_no_wrapping(tmp_path: Path) -> None:
    held = pod("a", 7)
    held["status"]["containerStatuses"] = [
        {"name": "main", "lastState": {"terminated": {"message": TEXT + PANIC}}}
    ]
    events, summary = read(tmp_path, compact(listed(held)))
    assert events[0].kind == "pod.observed"
    assert not any("read without" in note for note in summary.notes)


def test_lines_of_one_document_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_lines, "MAX_TEXT", 2**20)
    many = [{"textPayload": "x" * 2**16, "timestamp": TIMES[0]}] * 20
    with pytest.raises(EventMalformed, match="of lines in one document") as fault:
        read(tmp_path, json.dumps([CLOUD[0], *many]))
    assert "jq" in fault.value.now


PRINTED = {
    "kubectl describe pod": (
        "Name:             a\nNamespace:        ml\nContainers:\n  main:\n",
        "kubectl get pod a -n ml -o json",
    ),
    "kubectl describe node": (
        "Name:               n1\nRoles:              <none>\nLabels:             x=y\n",
        "kubectl get node n1 -o json",
    ),
    "kubectl describe queue": (
        (
            "Name:         gold\nNamespace:    \nAPI Version:  scheduling.volcano.sh/v1beta1\n"
            "Kind:         Queue\n"
        ),
        "kubectl get queue gold -o json",
    ),
    "kubectl get events": (
        "LAST SEEN   TYPE      REASON    OBJECT   MESSAGE\n30m   Warning   X   pod/a   y\n",
        "kubectl get events -A -o json",
    ),
    "kubectl get": ("NAME   READY   STATUS\na   1/1   Running\n", "-o json"),
    "rows of kubectl get": ("ml   a-0   0/1   Pending   0   30m\n", "-o json"),
    "vcctl": ("Name                     Weight  State\nq   1  Open\n", "-o json"),
    "nothing found": ("No resources found in ml namespace.\n", "-A"),
    "an error": ("Error from server (Forbidden): pods is forbidden\n", "again"),
    "an empty array": ("[]\n", "look whether"),
    "audit entries of Google Cloud": (
        json_lines(
            {
                "protoPayload": {
                    "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
                    "methodName": "io.k8s.core.v1.pods.create",
                    "response": {"@type": "core.k8s.io/v1.Pod", **pod()},
                }
            }
        ),
        "protoPayload | select",
    ),
}


@pytest.mark.parametrize("case", PRINTED)
def test_text_for_people_is_refused_with_the_command_that_gives_what_can_be_read(
    case: str, tmp_path: Path
) -> None:
    text, command = PRINTED[case]
    with pytest.raises(FormatUnknown) as fault:
        read(tmp_path, text)
    assert "no format recognises it" not in fault.value.what
    assert command in fault.value.now


@pytest.mark.parametrize("kind", ["List", "PodList"])
def test_a_list_without_items_is_said_to_be_empty(kind: str, tmp_path: Path) -> None:
    _, summary = read(tmp_path, compact(listed(kind=kind)))
    assert any("is empty" in note for note in summary.notes)

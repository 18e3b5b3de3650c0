"""Logs as tools export and print them: columns, fields of any name, prefixes of any form."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clusters import compact, listed, pod
from plinian.engine.errors import EventMalformed, FormatUnknown
from plinian.engine.events import Event
from plinian.engine.ingest.reading import log_lines
from plinian.engine.log import Query, open_log
from plinian.replay.ingest.ingest_run import IngestOptions, IngestSummary, ingest
from plinian.replay.logs.given_confs import conf_file

SESSION = "a81ef8ba-14a5-4a1f-96f5-cb02e74eeb5f"
STACK = (
    "panic: runtime error: index out of range [3]",
    "",
    "goroutine 9 [running]:",
    "volcano.sh/volcano/pkg/scheduler/framework.(*Session).dispatch(0xc1, 0x2)",
    "\t/go/src/volcano.sh/volcano/session.go:512 +0x1",
)
LOG = (
    (
        f"I1128 10:00:00.100001       1 session.go:193] Open Session {SESSION} with <3> Job and "
        "<2> Queues"
    ),
    "I1128 10:00:00.100002       1 enqueue.go:45] Enter Enqueue ...",
    'I1128 10:00:00.100003       1 enqueue.go:63] Added Queue <q>, "the first", for Job <ml/a>',
    "E1128 10:00:00.200004       1 session.go:512] failed to update the job <ml/a>: a; b | c",
    f"I1128 10:00:00.300005       1 session.go:240] Close Session {SESSION}",
    *STACK,
)
TEXT = "".join(f"{line}\n" for line in LOG)
SECONDS = [1795860000 + number for number in range(len(LOG))]
TIMES = [f"2026-11-28T10:00:{number:02}" for number in range(len(LOG))]


def at(number: int) -> str:
    return f"2026-11-28T10:00:{number:02}.000000Z"


def prefixed(make: Callable[[int], str], *, before: str = "", ends: str = "\n") -> str:
    return before + "".join(f"{make(number)}{line}{ends}" for number, line in enumerate(LOG))


def rows(
    head: list[str], make: Callable[[int, str], list[str]], *, newest: bool = False, **options: Any
) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", **options)
    if head:
        writer.writerow(head)
    found = [make(number, line) for number, line in enumerate(LOG)]
    writer.writerows(found[::-1] if newest else found)
    return text.getvalue()


def records(make: Callable[[int, str], Any]) -> list[Any]:
    return [make(number, line) for number, line in enumerate(LOG)]


def lines(found: list[Any]) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in found)


def insights(number: int, line: str) -> list[dict[str, str]]:
    return [
        {"field": "@timestamp", "value": f"2026-11-28 10:00:{number:02}.000"},
        {"field": "@message", "value": line},
        {"field": "@ptr", "value": "Cm"},
    ]


def otlp(number: int, line: str) -> dict[str, Any]:
    return {
        "timeUnixNano": f"{SECONDS[number]}000000000",
        "body": {"stringValue": line},
        "attributes": [{"key": "log.iostream", "value": {"stringValue": "stderr"}}],
    }


AZURE_COLUMNS = [
    {"name": "TimeGenerated", "type": "datetime"},
    {"name": "Computer", "type": "string"},
    {"name": "LogMessage", "type": "dynamic"},
]
HOST = [{"key": "host.name", "value": {"stringValue": "node-1"}}]
GREP = "\x1b[35m\x1b[Kscheduler.log\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K"
WRAPPED = {
    "grep -n": prefixed(lambda number: f"{number + 1}:"),
    "grep -H": prefixed(lambda _: "logs/scheduler.log:"),
    "grep -Hn": prefixed(lambda number: f"logs/scheduler.log:{number + 1}:"),
    "grep with colours": prefixed(lambda _: GREP),
    "rg with a heading": prefixed(lambda number: f"{number + 1}:", before="scheduler.log\n"),
    "cat -n": prefixed(lambda number: f"{number + 1:6}\t"),
    "colours around each line": prefixed(lambda _: "\x1b[38;5;196m", ends="\x1b[0m\n"),
    "colours that lost their first byte": prefixed(lambda _: "[38;5;196m", ends="[0m\n"),
    "stern in colours that lost it": prefixed(lambda _: "[35mvc-7d9[0m [95mscheduler[0m "),
    "a title and colours": prefixed(lambda _: "\x1b[32m", before="\x1b]0;kubectl\x07"),
    "journalctl -o short-iso": prefixed(
        lambda number: f"2026-11-28T10:00:{number:02}+0000 node-1 vc-scheduler[812]: "
    ),
    "journalctl -o short-precise": prefixed(
        lambda number: f"Nov 28 10:00:{number:02}.123456 node-1 vc-scheduler[812]: "
    ),
    "journalctl -o short-full": prefixed(
        lambda number: f"Sat 2026-11-28 10:00:{number:02} UTC node-1 vc-scheduler[812]: "
    ),
    "journalctl -o short-monotonic": prefixed(
        lambda number: f"[ {number:3}.123456] node-1 vc-scheduler[812]: "
    ),
    "syslog of RFC 5424": prefixed(lambda number: f"<14>1 {at(number)} node-1 sched 812 - - "),
    "logcli": prefixed(
        lambda number: f'{TIMES[number]}Z {{app="volcano scheduler", pod="vc-{number}"}} '
    ),
    "aws logs tail": prefixed(lambda number: f"{TIMES[number]}.000000+00:00 vc-a/sched/0f9 "),
    "aws logs tail --format short": prefixed(lambda number: f"{TIMES[number]} "),
    "Grafana, as text": prefixed(lambda number: f"{SECONDS[number]}000\t{at(number)}\t"),
    "kail": prefixed(lambda _: "volcano-system/vc-7d9[scheduler]: "),
    "kubetail": prefixed(lambda _: "[volcano-scheduler-7d9 scheduler] "),
    "k9s, of two containers": prefixed(lambda _: "vc-7d9:scheduler "),
    "stern with times": prefixed(lambda _: "vc-7d9 scheduler ", before="+ vc-7d9 › scheduler\n"),
    "line breaks of Windows": prefixed(lambda _: "", ends="\r\n"),
    "Splunk, CSV": rows(
        ["_raw", "_time", "host"],
        lambda number, line: [line, f"{TIMES[number]}.000+0000", "node-1"],
        newest=True,
    ),
    "Splunk, json_rows": json.dumps(
        {"fields": ["_raw", "_time"], "rows": records(lambda number, line: [line, at(number)])}
    ),
    "Splunk, a result a line": lines(
        records(lambda number, line: {"result": {"_raw": line, "_time": at(number)}})[::-1]
    ),
    "Azure, rows": json.dumps(
        {
            "tables": [
                {
                    "name": "PrimaryResult",
                    "columns": AZURE_COLUMNS,
                    "rows": records(lambda number, line: [at(number), "aks-0", line])[::-1],
                }
            ]
        }
    ),
    "Azure, az monitor": json.dumps(
        records(
            lambda number, line: {
                "LogEntry": line,
                "TableName": "PrimaryResult",
                "TimeGenerated": at(number),
            }
        ),
        indent=2,
    ),
    "Azure, CSV": rows(
        ["TimeGenerated [UTC]", "Computer", "LogMessage"],
        lambda number, line: [f"11/28/2026, 10:00:{number:02}.000 AM", "aks-0", line],
    ),
    "Kibana, CSV": rows(
        ["@timestamp", "message", "kubernetes.pod_name"],
        lambda number, line: [f"Nov 28, 2026 @ 10:00:{number:02}.000", line, "vc-7d9"],
    ),
    "semicolons": rows(["Zeit", "Text"], lambda _, line: ["x", line], delimiter=";"),
    "tabs": rows(["when", "text"], lambda _, line: ["x", line], delimiter="\t"),
    "AWS, --output text": "".join(
        f"EVENTS\t{second}000\t{line}\t{second}900\n"
        for second, line in zip(SECONDS, LOG, strict=True)
    ),
    "one column": rows(["_raw"], lambda _, line: [line], quoting=csv.QUOTE_ALL),
    "CloudWatch Insights": json.dumps({"results": records(insights), "status": "Complete"}),
    "CloudWatch, filter-log-events": json.dumps(
        {
            "events": records(
                lambda number, line: {
                    "logStreamName": "vc-a",
                    "timestamp": SECONDS[number] * 1000,
                    "message": line,
                    "eventId": "3",
                }
            ),
            "searchedLogStreams": [],
        },
        indent=4,
    ),
    "Container Insights": json.dumps(
        {
            "events": records(
                lambda number, line: {
                    "timestamp": SECONDS[number] * 1000,
                    "message": json.dumps(
                        {"log": line, "stream": "stderr", "kubernetes": {"pod_name": "vc"}}
                    ),
                }
            )
        }
    ),
    "aws logs tail of Container Insights": "".join(
        f"{time}.000000+00:00 vc-a {json.dumps({'log': line, 'stream': 'stderr'})}\n"
        for time, line in zip(TIMES, LOG, strict=True)
    ),
    "OpenSearch": json.dumps(
        {
            "hits": {
                "total": {"value": 9},
                "hits": records(
                    lambda number, line: {
                        "_index": "logs",
                        "_source": {"@timestamp": at(number), "message": line},
                        "sort": [SECONDS[number]],
                    }
                )[::-1],
            }
        }
    ),
    "elasticdump": lines(
        records(
            lambda number, line: {
                "_index": "logs",
                "_source": {"@timestamp": at(number), "event": {"original": line}},
            }
        )
    ),
    "OpenTelemetry": json.dumps(
        {
            "resourceLogs": [
                {
                    "resource": {"attributes": HOST},
                    "scopeLogs": [{"scope": {}, "logRecords": records(otlp)}],
                }
            ]
        }
    ),
    "VictoriaLogs": lines(
        records(lambda number, line: {"_time": at(number), "_msg": line, "pod": "vc"})
    ),
    "Graylog": lines(
        records(lambda number, line: {"timestamp": SECONDS[number], "short_message": line})
    ),
    "Grafana, JSON": json.dumps(
        records(
            lambda number, line: {
                "line": line,
                "timestamp": f"{SECONDS[number]}000000000",
                "fields": {"app": "volcano"},
            }
        )[::-1]
    ),
    "rg --json": lines(
        [
            {"type": "begin", "data": {"path": {"text": "scheduler.log"}}},
            *records(
                lambda number, line: {
                    "type": "match",
                    "data": {
                        "path": {"text": "scheduler.log"},
                        "lines": {"text": f"{line}\n"},
                        "line_number": number + 1,
                    },
                }
            ),
        ]
    ),
    "a field of any name": lines(records(lambda _, line: {"pod": "vc", "payload_text": line})),
    "an array of texts": json.dumps(list(LOG), indent=2),
    "a text a line": lines(list(LOG)),
    "the whole log as one text": json.dumps(TEXT),
}
ENCODED = {
    "UTF-16, as PowerShell writes it": TEXT.replace("\n", "\r\n").encode("utf-16"),
    "UTF-16 with the great byte first": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "UTF-16 without a mark": TEXT.encode("utf-16-le"),
    "UTF-8 with a mark": TEXT.encode("utf-8-sig"),
}


def read(
    tmp_path: Path, text: str | bytes, name: str = "pasted", year: int | None = 2026
) -> tuple[list[Event], IngestSummary]:
    path, place = tmp_path / name, tmp_path / f"{name}.db"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with open_log(place, create=True) as log:
        summary = ingest(log, [str(path)], IngestOptions(year=year))
        return [one.event for one in log.read(Query())], summary


def said(events: list[Event]) -> list[tuple[str, bytes, int | None]]:
    return [(event.kind, event.payload, event.earliest) for event in events]


@pytest.mark.parametrize("case", WRAPPED)
def test_an_exported_log_says_what_the_plain_one_says(case: str, tmp_path: Path) -> None:
    plain, _ = read(tmp_path, TEXT, "plain")
    wrapped, summary = read(tmp_path, WRAPPED[case])
    assert len(plain) == 5
    assert said(wrapped) == said(plain)
    if case != "line breaks of Windows":
        assert any("read without" in note for note in summary.notes), "what was removed is said"
    of_input = WRAPPED[case].split("\n")
    if len(of_input) > len(LOG):  # Not all of it is one line.
        (logged,) = [event for event in wrapped if event.kind == "message.logged"]
        assert "failed to update" in of_input[logged.line - 1]


@pytest.mark.parametrize("case", ENCODED)
def test_a_log_in_another_encoding_says_what_the_plain_one_says(case: str, tmp_path: Path) -> None:
    plain, _ = read(tmp_path, TEXT, "plain")
    encoded, summary = read(tmp_path, ENCODED[case])
    assert said(encoded) == said(plain)
    assert [event.line for event in encoded] == [event.line for event in plain]
    assert ("UTF-16" in case) == any("decoded from UTF-16" in note for note in summary.notes)


def test_objects_in_utf_16_are_read(tmp_path: Path) -> None:
    text = compact(listed(pod("a", 7))).decode()
    plain, _ = read(tmp_path, text, "plain")
    encoded, _ = read(tmp_path, text.encode("utf-16"))
    assert said(encoded) == said(plain)


def test_a_configuration_in_utf_16_is_read(tmp_path: Path) -> None:
    text, path = 'actions: "enqueue, allocate"\n', tmp_path / "volcano-scheduler.conf"
    path.write_bytes(text.encode("utf-16"))
    assert conf_file(path).text == text


@pytest.mark.parametrize(
    "case",
    [
        "journalctl -o short-iso",
        "journalctl -o short-full",
        "logcli",
        "aws logs tail",
        "Splunk, CSV",
        "Azure, CSV",
        "Kibana, CSV",
        "CloudWatch Insights",
        "OpenTelemetry",
        "VictoriaLogs",
    ],
)
def test_times_beside_the_lines_show_their_year(case: str, tmp_path: Path) -> None:
    plain, _ = read(tmp_path, TEXT, "plain")
    wrapped, _ = read(tmp_path, WRAPPED[case], year=None)
    assert said(wrapped) == said(plain)


def test_a_stack_in_one_cell_is_read_line_by_line(tmp_path: Path) -> None:
    whole = "\n".join(STACK)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows(
        [["_time", "_raw"], *([time, one] for time, one in zip(TIMES[:5], LOG[:5], strict=True))]
    )
    writer.writerow([TIMES[6], whole])
    plain, _ = read(tmp_path, TEXT, "plain")
    wrapped, _ = read(tmp_path, text.getvalue())
    assert said(wrapped) == said(plain)


def test_lines_in_other_lines_context_of_grep_are_read(tmp_path: Path) -> None:
    marks = ["-", "-", ":", ":", "-", *"-----"]
    text = "".join(
        f"scheduler.log{mark}{number}{mark}{line}\n"
        for number, (mark, line) in enumerate(zip(marks, LOG, strict=True), 1)
    )
    plain, _ = read(tmp_path, TEXT, "plain")
    wrapped, _ = read(tmp_path, text)
    assert said(wrapped) == said(plain)


def test_times_of_each_line_are_kept_behind_a_prefix(tmp_path: Path) -> None:
    def stamp(number: int) -> str:
        return f"{at(number)} "

    plain, _ = read(tmp_path, prefixed(stamp), "plain")
    wrapped, _ = read(tmp_path, prefixed(lambda number: f"e2e\tRun tests\t{stamp(number)}"))
    assert said(wrapped) == said(plain)


def test_a_plain_log_with_commas_is_no_table(tmp_path: Path) -> None:
    rest = [line for line in LOG if line.count(",") == 1]
    text = "\n".join(["Starting, please wait", LOG[0], *rest, LOG[4]])
    _, summary = read(tmp_path, f"{text}\n")
    assert not any("read without" in note for note in summary.notes)


def test_rows_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_lines, "MAX_TEXT", 100)
    with pytest.raises(EventMalformed, match="of lines in one"):
        read(tmp_path, WRAPPED["Splunk, CSV"])


REFUSED = {
    "a table of k9s": (
        (
            " NAMESPACE↑   NAME     PF  READY  STATUS     RESTARTS  IP\n"
            " ml           a-0      ●   0/1    Pending           0  <none>\n"
        ),
        "-o json",
    ),
    "a screen of k9s": (
        (
            "┌──────────── Pods(all)[12] ────────────┐\n"
            "│ NAMESPACE↑  NAME  PF READY STATUS  │\n"
            "│ ml          a-0   ●  0/1   Pending │\n"
        ),
        "-o json",
    ),
    "a table that k9s saved": (
        "NAMESPACE,NAME,VS,PF,READY,STATUS,RESTARTS\nml,a-0,,,0/1,Pending,0\n",
        "-o json",
    ),
    "records of gcloud in YAML": (
        (
            "---\ninsertId: x\nresource:\n  type: k8s_container\ntextPayload: >-\n"
            f"  {LOG[0]}\ntimestamp: '2026-11-28T10:00:00Z'\n"
        ),
        "--format=json",
    ),
    "journalctl -o verbose": (
        f"Sat 2026-11-28 10:00:00 UTC [s=1;i=2]\n    _PID=812\n    MESSAGE={LOG[0]}\n",
        "-o json",
    ),
    "lines of a log within something else": (
        f"<tr><td>{'x' * 500}</td><td>{LOG[0]}</td></tr>\n",
        "sed -E",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_says_how_to_unwrap_it(case: str, tmp_path: Path) -> None:
    text, command = REFUSED[case]
    with pytest.raises(FormatUnknown) as fault:
        read(tmp_path, text)
    assert "no format recognises it" not in fault.value.what
    assert command in fault.value.now


@pytest.mark.parametrize("field", ["log", "stream"])
def test_a_record_that_is_not_utf_8_is_refused_alone(field: str, tmp_path: Path) -> None:
    records = [json.dumps({"log": f"{line}\n", "stream": "stderr"}) for line in LOG]
    records[2] = records[2].replace(f'"{field}"', f'"{field}\udcff"')
    path = tmp_path / "docker.json"
    path.write_bytes(("[" + ",\n".join(records) + "]").encode(errors="surrogateescape"))
    with open_log(tmp_path / "some.db", create=True) as log:
        with pytest.raises(EventMalformed, match="not UTF-8"):
            ingest(log, [str(path)], IngestOptions(year=2026))
        assert not list(log.read(Query()))
        summary = ingest(log, [str(path)], IngestOptions(year=2026, skip_malformed=True))
        assert summary.skipped["malformed"] == 1
        assert list(log.read(Query()))

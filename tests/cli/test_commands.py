"""The other commands: events, history, diff, describe, export, ingest, demo and housekeeping."""

from __future__ import annotations

import csv
import json
import lzma
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from plinian.replay.cli.completion import SCRIPTS

Run = Callable[..., Result]
Ask = Callable[..., str]

RECORDING = Path(__file__).resolve().parents[2] / "replay" / "recordings" / "quickstart"


@pytest.fixture
def own_log(small_log: str, tmp_path: Path) -> str:
    """Copy the small log, so that it may be written to."""
    path = tmp_path / "own.db"
    shutil.copy(small_log, path)
    return str(path)


# -- events --------------------------------------------------------------------------------------


def test_an_event_line_has_the_whole_envelope_and_no_payload_unless_asked(ask: Ask) -> None:
    lines = [json.loads(line) for line in ask("events", "-o", "ndjson").splitlines()]
    assert [line["position"] for line in lines] == list(range(1, 11))
    recorded = lines[3].pop("recorded_at")
    assert recorded.endswith("Z")
    assert lines[3] == {
        "position": 4,
        "kind": "pod.created",
        "object": {
            "group": "",
            "kind": "Pod",
            "namespace": "default",
            "name": "train-0",
            "uid": "uid-of-train-0",
        },
        "resource_version": "13",
        "time": "2026-01-02T12:00:04Z",
        "earliest": "2026-01-02T12:00:04Z",
        "latest": "2026-01-02T12:00:04Z",
        "actor": "controllers",
        "made": None,
        "verb": None,
        "source": "watch.jsonl",
        "line": 4,
        "branch": "main",
        "cluster": "default",
    }
    full = [json.loads(line) for line in ask("events", "-o", "ndjson", "--payload").splitlines()]
    assert full[3]["payload"]["metadata"]["resourceVersion"] == "13"


@pytest.mark.parametrize(
    ("narrowed", "positions"),
    [
        (["--kind", "pod.*"], [4, 5, 6, 8, 9]),
        (["--kind", "pod.created,queue.updated"], [4, 7, 9]),
        (["--object", "queue"], [2, 7]),
        (["--object", "pod/train-0", "-n", "default"], [4, 5, 6, 8, 9]),
        (["--object", "queue/gold"], [2, 7]),
        (["--after", "@8"], [9, 10]),
        (["--since", "@9"], [9, 10]),
        (["--until", "@2"], [1, 2]),
        (["--since", "rv:17"], [8, 9, 10]),
        (["--since", "2026-01-02T12:00:08Z"], [8, 9, 10]),
        (["--since", "-1s"], [8, 9, 10]),
        (["--until", "2026-01-02T12:00:02Z"], [1, 2]),
        (["--limit", "2"], [1, 2]),
        (["--newest-first", "--limit", "2"], [10, 9]),
        (["--source", "watch.jsonl", "--limit", "1"], [1]),
        (["--source", "other.jsonl"], []),
        (["-n", "elsewhere"], []),
    ],
)
def test_events_are_narrowed(ask: Ask, narrowed: list[str], positions: list[int]) -> None:
    lines = ask("events", "-o", "ndjson", *narrowed).splitlines()
    assert [json.loads(line)["position"] for line in lines] == positions


def test_events_in_a_table_name_object_version_and_time(ask: Ask) -> None:
    rows = ask("events", "--kind", "pod.deleted").splitlines()
    assert rows[0].split() == ["POSITION", "KIND", "OBJECT", "VERSION", "TIME", "ACTOR"]
    assert rows[1].split() == (
        ["@8", "pod.deleted", "pod/default/train-0", "17", "2026-01-02T12:00:08Z", "admin"]
    )


# -- history, diff, describe -----------------------------------------------------------------------


def test_a_history_tells_both_objects_of_one_name_apart(ask: Ask) -> None:
    found = json.loads(ask("history", "pod/train-0", "-o", "json"))
    assert found["uids"] == ["uid-of-train-0", "uid-of-second"]
    told = [
        (one["position"], one["kind"], one["actor"], [c["path"] for c in one["changes"]])
        for one in found["happenings"]
    ]
    assert told == [
        (4, "pod.created", "controllers", []),
        (5, "pod.updated", "", ["spec.nodeName"]),
        (6, "pod.updated", "", ["status.containerStatuses[0].ready", "status.phase"]),
        (8, "pod.deleted", "admin", []),
        (9, "pod.created", "controllers", []),
    ]
    text = ask("history", "pod", "train-0")
    assert text.startswith("2 objects had this name, one after the other.\n")
    assert '      spec.nodeName: <none> → "n1"\n' in text
    assert "  @8  rv:17  2026-01-02T12:00:08Z  pod.deleted  by admin\n" in text


def test_a_history_ends_at_the_moment_looked_at(ask: Ask) -> None:
    found = json.loads(ask("history", "pod/train-0", "-o", "json", "--at", "rv:14"))
    assert [one["position"] for one in found["happenings"]] == [4, 5]


def test_a_history_of_nobody_exits_with_1(run: Run, small_log: str) -> None:
    result = run("history", "pod/nobody", "--log", small_log)
    assert result.exit_code == 1
    assert 'the log holds no pods "nobody" in namespace default' in result.stderr


def test_a_diff_tells_what_came_went_and_changed(ask: Ask) -> None:
    found = json.loads(ask("diff", "rv:15", "rv:19", "-o", "json"))
    assert (found["apiVersion"], found["kind"]) == ("plinian/v1", "Diff")
    assert (found["from"]["point"], found["to"]["revision"]) == ("rv:15", 19)
    assert [one["object"]["uid"] for one in found["added"]] == ["uid-of-second", "uid-of-w1"]
    assert [(one["object"]["uid"], one["replaced"]) for one in found["removed"]] == (
        [("uid-of-train-0", True)]
    )
    assert [(one["object"]["name"], one["changes"]) for one in found["changed"]] == (
        [("gold", [{"path": "spec.capability.cpu", "old": "4", "new": "6"}])]
    )
    assert found["summary"] == {
        "added": 2, "first_seen": 0, "removed": 1, "changed": 1, "same": 2, "rewritten": 0
    }  # fmt: skip
    assert found["nodes"][0]["before"]["used"] == {"cpu": 2000.0, "memory": 2.0**30}
    assert found["queues"][0]["after"] == {"pods": 0, "used": {}, "allocatable": {}}


def test_a_diff_for_people_has_totals_before_and_after(ask: Ask) -> None:
    lines = ask("diff", "rv:15", "end").splitlines()
    assert "- pod/default/train-0  (replaced by another object with this name)" in lines
    assert "~ queue/gold" in lines
    assert '    spec.capability.cpu: "4" → "6"' in lines
    assert "n1     1 → 0   2 → 0 of 8   1Gi → 0 of 16Gi" in lines
    assert lines[-1] == "2 added, 1 removed, 1 changed, 2 the same"


def test_a_diff_can_be_narrowed_and_its_exit_code_asked_for(run: Run, small_log: str) -> None:
    def code(*more: str) -> int:
        return run("diff", "rv:15", "end", "--exit-code", *more, "--log", small_log).exit_code

    assert code() == 1
    assert code("--kind", "nodes") == 0
    assert code("--kind", "queues") == 1
    assert code("--kind", "queues", "--ignore", "spec.capability") == 0
    assert code("-n", "elsewhere") == 2  # nothing is known of it
    assert run("diff", "end", "--log", small_log, "--exit-code").exit_code == 0


def test_points_that_begin_with_a_dash_are_points(ask: Ask) -> None:
    assert "from  2026-01-02T12:00:06Z" in ask("diff", "-3s", "-1s")


def test_a_description_tells_what_belongs_to_an_object(ask: Ask) -> None:
    node = ask("describe", "node", "n1", "--at", "rv:15")
    assert "Pods on it (1)" in node
    assert ["cpu", "8", "2", "6", "25%"] in [line.split() for line in node.splitlines()]
    queue = ask("describe", "queue/gold", "--at", "rv:15")
    assert "PodGroups:          Running=1" in queue
    group = ask("describe", "pg", "train", "--at", "rv:15")
    assert "Pods (1)" in group
    pod = ask("describe", "pod", "train-0", "--at", "rv:15")
    assert "Queue:              gold" in pod
    assert "Last versions" in pod


def test_a_description_writes_taints_as_kubectl_does(run: Run, tmp_path: Path) -> None:
    taints = [
        {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
        {"key": "dedicated", "value": "gpu", "effect": "NoExecute"},
    ]
    metadata = {"name": "n", "uid": "u", "resourceVersion": "5"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": taints}}
    (tmp_path / "nodes.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [node]})
    )
    run("ingest", str(tmp_path / "nodes.json"))
    shown = run("describe", "node/n").stdout
    told = "node-role.kubernetes.io/control-plane:NoSchedule, dedicated=gpu:NoExecute"
    assert told in shown


def test_a_description_of_nobody_exits_with_1(run: Run, small_log: str) -> None:
    result = run("describe", "node", "n2", "--log", small_log)
    assert (result.exit_code, result.stdout) == (1, "")
    assert 'nodes "n2" not found at @10' in result.stderr


# -- files in and out ------------------------------------------------------------------------------


def test_an_ingest_says_what_it_did_and_again_what_it_knew(run: Run) -> None:
    source = str(RECORDING / "watch-nodes.jsonl.xz")
    first = json.loads(run("ingest", source, "-o", "json").stdout)
    assert first["appended"] > 0
    assert first["known"] == 0
    again = json.loads(run("ingest", source, "-o", "json").stdout)
    assert (again["appended"], again["known"]) == (0, first["appended"])
    assert run("get", "nodes", "--at", "2026-11-21T01:53:36Z", "-o", "name").stdout.split() == (
        [f"node/node-{number}" for number in range(5)]
    )


def test_an_ingest_for_people_ends_with_a_table_of_kinds(run: Run) -> None:
    out = run("ingest", str(RECORDING / "watch-nodes.jsonl.xz")).stdout
    assert out.splitlines()[0].split() == ["KIND", "NEW"]
    assert "node.updated" in out
    assert "revisions" in out


def test_an_ingest_of_nonsense_stores_nothing_and_exits_with_2(run: Run, tmp_path: Path) -> None:
    (tmp_path / "good.jsonl").write_bytes(
        lzma.decompress((RECORDING / "watch-nodes.jsonl.xz").read_bytes())
    )
    (tmp_path / "bad.bin").write_bytes(b"\x00\x01\x02")
    result = run("ingest", "good.jsonl", "bad.bin")
    assert result.exit_code == 2
    assert "bad.bin" in result.stderr
    assert run("events", "-o", "ndjson").stdout == ""


def test_a_path_that_is_not_there_founds_no_log(run: Run, tmp_path: Path) -> None:
    result = run("ingest", "nowhere.json")
    assert result.exit_code == 2
    assert result.stderr.startswith("plinian: nowhere.json: ")
    assert list(tmp_path.iterdir()) == []


def test_an_export_holds_every_event_with_its_payload(
    run: Run, small_log: str, tmp_path: Path
) -> None:
    result = run("export", "out.ndjson", "--log", small_log)
    assert result.stderr == "10 events written to out.ndjson\n"
    lines = [json.loads(line) for line in (tmp_path / "out.ndjson").read_text().splitlines()]
    assert len(lines) == 10
    assert (lines[1]["object_kind"], lines[1]["revision"]) == ("Queue", 11)
    assert lines[1]["payload"]["spec"]["capability"] == {"cpu": "4"}
    to_stdout = run("export", "-", "--log", small_log)
    assert to_stdout.stdout == (tmp_path / "out.ndjson").read_text()


def test_a_parquet_export_holds_the_same(run: Run, small_log: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert run("export", "out.parquet", "--log", small_log).exit_code == 0
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["position"] for row in rows] == list(range(1, 11))
    assert rows[0]["latest"].isoformat() == "2026-01-02T12:00:01+00:00"
    assert json.loads(rows[1]["payload"])["kind"] == "Queue"


def test_a_csv_export_holds_the_same(run: Run, small_log: str, tmp_path: Path) -> None:
    assert run("export", "out.csv", "--log", small_log).exit_code == 0
    assert run("export", "out.ndjson", "--log", small_log).exit_code == 0
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [json.loads(line) for line in (tmp_path / "out.ndjson").read_text().splitlines()]
    assert [json.loads(row.pop("payload")) for row in rows] == [
        line.pop("payload") for line in lines
    ]
    for row, line in zip(rows, lines, strict=True):
        assert row == {name: "" if value is None else str(value) for name, value in line.items()}


def test_an_export_is_of_the_format_that_its_name_or_the_option_says(
    run: Run, small_log: str, tmp_path: Path
) -> None:
    written = {
        name: run("export", name, *more, "--log", small_log)
        for name, more in {
            "a.jsonl": (),
            "b": (),
            "c.txt": ("--format", "csv"),
            "d": ("--format", "csv"),
        }.items()
    }
    assert {result.exit_code for result in written.values()} == {0}
    begins = [(tmp_path / name).read_bytes()[:9] for name in written]
    assert begins == [b'{"positio', b'{"positio', b"position,", b"position,"]
    to_stdout = run("export", "-", "--format", "csv", "--log", small_log)
    assert to_stdout.stdout == (tmp_path / "d").read_text()


def test_an_export_that_fails_leaves_no_file(run: Run, small_log: str, tmp_path: Path) -> None:
    result = run("export", "no/such/folder/out.ndjson", "--log", small_log)
    assert result.exit_code == 2
    assert "out.ndjson" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_both_databases_answer_alike(run: Run, log_place: str, demo_log: str) -> None:
    inputs = sorted(str(path) for path in RECORDING.glob("watch-*.xz"))
    assert run("ingest", *inputs, "--log", log_place).exit_code == 0
    question = ("get", "no,q,pg,po,vcjob,pc", "-o", "json", "--at", "rv:1600", "--log")
    here = run(*question, log_place)
    assert here.exit_code == 0, here.stderr
    assert here.stdout == run(*question, demo_log).stdout
    assert run("verify", "--log", log_place).exit_code == 0
    info = json.loads(run("db", "info", "-o", "json", "--log", log_place).stdout)
    assert info["events"] > 1000


# -- housekeeping ----------------------------------------------------------------------------------


def test_verify_names_what_it_went_through(ask: Ask) -> None:
    assert ask("verify").startswith("verified: no changes in 10 events (1 batches)\nhead ")
    assert json.loads(ask("verify", "-o", "json"))["events"] == 10


def test_verify_names_the_first_position_that_cannot_be_trusted(run: Run, own_log: str) -> None:
    with sqlite3.connect(own_log) as connection:
        triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'event'"
        for (name,) in connection.execute(triggers).fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("UPDATE event SET line = line + 1 WHERE position = 7")
    result = run("verify", "--log", own_log)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("plinian: ")
    assert "@" in result.stderr.splitlines()[0]


def test_the_digest_is_of_the_state_at_a_moment(ask: Ask) -> None:
    assert ask("digest", "--at", "rv:19") == ask("digest")
    assert ask("digest", "--at", "rv:18") != ask("digest")
    assert json.loads(ask("digest", "-o", "json"))["objects"] == 5


def test_a_branch_continues_a_log_and_can_be_looked_at(run: Run, own_log: str) -> None:
    made = run("branch", "create", "what-if", "--at", "@4", "--log", own_log)
    assert made.stderr == "branch what-if continues main from @4\n"
    rows = run("branch", "list", "--log", own_log).stdout.splitlines()
    assert rows[2].split() == ["what-if", "main", "@4", "@4"]
    then = run("get", "pods", "-o", "name", "--branch", "what-if", "--log", own_log)
    assert then.stdout == "pod/train-0\n"
    named = run("diff", "what-if@4", "@4", "--exit-code", "--log", own_log)
    assert named.exit_code == 0, named.stdout
    assert run("branch", "create", "x", "--at", "rv:12", "--log", own_log).exit_code == 0
    digests = {
        run("digest", *where, "--log", own_log).stdout
        for where in (("--at", "rv:12"), ("--branch", "x"))
    }
    assert len(digests) == 1
    refused = run("branch", "create", "y", "--at", "@999", "--log", own_log)
    assert refused.exit_code == 2


def test_checkpoints_change_no_answer(run: Run, own_log: str) -> None:
    before = run("get", "pods,nodes,queues", "-o", "json", "--log", own_log).stdout
    built = run("checkpoint", "build", "--log", own_log)
    assert built.exit_code == 0
    assert "1 fact blocks" in built.stderr
    assert run("get", "pods,nodes,queues", "-o", "json", "--log", own_log).stdout == before
    assert run("checkpoint", "list", "--log", own_log).stdout.startswith("BRANCH")
    assert run("checkpoint", "drop", "--log", own_log).exit_code == 0
    assert json.loads(run("db", "info", "-o", "json", "--log", own_log).stdout)["fact_blocks"] == 0


def test_the_tables_go_back_and_forth_but_not_to_nothing_by_accident(
    run: Run, own_log: str
) -> None:
    assert "events " in run("db", "info", "--log", own_log).stdout
    refused = run("db", "downgrade", "base", "--log", own_log)
    assert refused.exit_code == 2
    assert "drops the log" in refused.stderr
    first = json.loads(run("db", "info", "-o", "json", "--log", own_log).stdout)
    assert run("db", "downgrade", "0001", "--log", own_log).exit_code == 0
    older = run("get", "pods", "--log", own_log)
    assert older.exit_code == 2
    assert "plinian db upgrade" in older.stderr
    assert run("db", "upgrade", "--log", own_log).exit_code == 0
    again = json.loads(run("db", "info", "-o", "json", "--log", own_log).stdout)
    assert again["schema_revision"] == first["schema_revision"]
    assert again["events"] == 10


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["desc"], ["describe"]),
        (["db", ""], ["downgrade", "info", "upgrade"]),
        (["get", "podg"], ["podgroups"]),
        (["get", "pods,no"], ["pods,no", "pods,nodes", "pods,nodeshards"]),
        (["get", "queue", ""], ["gold"]),
        (["describe", "pod/tr"], ["pod/train-0"]),
        (["get", "pods", "--at", "e"], ["end"]),
        (["get", "--no-h"], ["--no-headers"]),
        (["session", "--release", "v1.9"], ["v1.9.0", "v1.9.1"]),
        (["release", "diff", "v1.15.1", "h"], ["hardened"]),
        (["bisect", "--releases", "v1.15.1..h"], ["v1.15.1..hardened"]),
        (["upgrade-check", "--to", "h"], ["hardened"]),
    ],
)
def test_completion_knows_commands_options_kinds_and_names(
    run: Run, small_log: str, words: list[str], expected: list[str]
) -> None:
    result = run("__complete", "--", *words, env={"PLINIAN_LOG": small_log})
    assert result.stdout.splitlines() == expected


def test_completion_is_silent_where_there_is_no_log(run: Run) -> None:
    result = run("__complete", "--", "get", "pods", "")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("shell", sorted(SCRIPTS))
def test_a_completion_script_is_one_its_shell_can_read(run: Run, shell: str) -> None:
    script = run("completion", shell).stdout
    assert "plinian __complete" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_the_demonstration_shows_the_incident_and_adds_nothing_the_second_time(
    run: Run, demo_log: str, tmp_path: Path
) -> None:
    copy = tmp_path / "demo.db"
    shutil.copy(demo_log, copy)
    result = run("demo", "--log", str(copy))
    assert result.exit_code == 0
    assert "- node/node-4" in result.stdout
    assert "    spec.unschedulable: <none> → true" in result.stdout
    assert "job.created  by kubernetes-admin" in result.stdout
    assert f"PLINIAN_LOG={copy}" in result.stdout
    with_more = json.loads(run("db", "info", "-o", "json", "--log", str(copy)).stdout)
    before = json.loads(run("db", "info", "-o", "json", "--log", demo_log).stdout)
    assert with_more["events"] == before["events"]

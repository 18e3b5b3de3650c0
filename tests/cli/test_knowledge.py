"""What commands say of what a log does not know, and ``plinian status``."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result
from html_pages import Page

import plinian
from clusters import compact, initial_end, watched

Run = Callable[..., Result]

VOLCANO = "scheduling.volcano.sh/v1beta1"

QUESTIONS = (
    ("get", "pods", "-A"),
    ("get", "queues"),
    ("describe", "node/n1"),
    ("history", "queue/root"),
    ("diff", "rv:10"),
    ("events", "--since", "rv:10"),
    ("digest",),
    ("belief",),
    ("drift",),
    ("session",),
)


def an_object(kind: str, name: str, *, namespace: str = "", **parts: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "uid": f"uid-of-{name}"}
    if namespace:
        metadata["namespace"] = namespace
    if "annotations" in parts:
        metadata["annotations"] = parts.pop("annotations")
    return {"apiVersion": parts.pop("api", "v1"), "kind": kind, "metadata": metadata, **parts}


def at(revision: int, document: dict[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    changed["metadata"]["resourceVersion"] = str(revision)
    return changed


NODE = an_object(
    "Node", "n1", spec={}, status={"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}
)
QUEUES = [
    an_object("Queue", name, api=VOLCANO, spec={"weight": 1}, status={"state": "Open"})
    for name in ("default", "root")
]
GROUP = an_object(
    "PodGroup",
    "train",
    namespace="ml",
    api=VOLCANO,
    spec={"minMember": 1, "queue": "default"},
    status={"phase": "Pending"},
)
POD = an_object(
    "Pod",
    "train-0",
    namespace="ml",
    annotations={"scheduling.k8s.io/group-name": "train"},
    spec={"schedulerName": "volcano", "containers": [{"name": "c"}]},
    status={"phase": "Pending"},
)
ALL = (at(5, NODE), *(at(6 + place, one) for place, one in enumerate(QUEUES)), at(8, GROUP))


CONFIGURED = {
    "volcano-scheduler.conf": b'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n'
}


def a_list(*items: dict[str, Any]) -> bytes:
    return compact({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": list(items)})


@pytest.fixture
def log_of(run: Run, tmp_path: Path) -> Callable[..., str]:
    """Ingest inputs into a log of their own, and return its path."""

    def ingested(**inputs: bytes) -> str:
        for name, data in inputs.items():
            (tmp_path / name).write_bytes(data)
        place = str(tmp_path / "own.db")
        done = run("ingest", *(str(tmp_path / name) for name in inputs), "--log", place)
        assert done.exit_code == 0, done.stderr
        return place

    return ingested


def a_watch(kind: str, group: str, *documents: dict[str, Any]) -> bytes:
    mark, end = initial_end(10, kind)
    end["apiVersion"] = group
    events = [("ADDED", document) for document in documents]
    later = ("MODIFIED", at(20, documents[0]))
    return watched(*events, (mark, end), later)


def warnings(result: Result) -> list[str]:
    return [line for line in result.stderr.splitlines() if line.startswith("warning: ")]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda words: words[0])
def test_a_log_of_full_recordings_warns_of_nothing_inside(
    run: Run, demo_log: str, question: tuple[str, ...]
) -> None:
    if question[0] in {"diff", "events"}:
        question = (*question[:-1], "rv:900")
    if question[0] == "describe":
        question = ("describe", "node/node-1")
    for place in ((), ("--at", "@2638"), ("--at", "rv:1088"), ("--at", "2026-11-21T01:53:36Z")):
        words = () if question[0] in {"diff", "events"} else place
        result = run(*question, *words, "--log", demo_log, "--strict")
        assert (result.exit_code, warnings(result)) == (0, []), result.stderr


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda words: words[0])
def test_one_list_of_kubectl_answers_at_its_moment_without_a_warning(
    run: Run, log_of: Callable[..., str], question: tuple[str, ...]
) -> None:
    if question[0] in {"diff", "events"}:
        question = (*question[:-1], "rv:9")
    log = log_of(all=a_list(*ALL, at(9, POD)), **CONFIGURED)
    result = run(*question, "--log", log, "--strict")
    assert (result.exit_code, warnings(result)) == (0, []), result.stderr


def test_before_a_list_the_warning_names_kind_and_revision(
    run: Run, log_of: Callable[..., str]
) -> None:
    log = log_of(all=a_list(*ALL, at(9, POD)))
    result = run("get", "pods", "-n", "ml", "--at", "rv:8", "--log", log)
    assert result.exit_code == 0
    assert warnings(result) == [
        "warning: pods in ml: not known before rv:9: no complete list before it"
    ]


def test_strict_makes_it_an_error_that_says_what_would_help(
    run: Run, log_of: Callable[..., str]
) -> None:
    log = log_of(all=a_list(*ALL))
    for question in (("get", "pods", "-A"), ("session",), ("belief",), ("drift",)):
        result = run(*question, "--log", log, "--strict")
        assert result.exit_code == 2
        assert result.stdout == ""
        assert "pods: not fully known" in result.stderr
        assert "ingest a list of pods" in result.stderr


def test_after_a_watch_the_warning_says_how_far_it_went(
    run: Run, log_of: Callable[..., str]
) -> None:
    later = at(900, {**copy.deepcopy(NODE), "spec": {"unschedulable": True}})
    later["metadata"]["managedFields"] = [{"time": "2026-01-02T13:00:00Z"}]
    nodes = a_watch("Node", "v1", ALL[0]) + watched(("MODIFIED", later))
    log = log_of(nodes=nodes, queues=a_watch("Queue", VOLCANO, *ALL[1:3]))
    assert warnings(run("get", "nodes", "-o", "name", "--log", log)) == []
    (warning,) = warnings(run("get", "queues", "-o", "name", "--log", log))
    assert warning.startswith("warning: queues: not known after rv:20")
    assert warnings(run("get", "queues", "-o", "name", "--log", log, "--at", "rv:20")) == []


def test_a_range_begins_at_what_is_known_and_says_so(run: Run, log_of: Callable[..., str]) -> None:
    log = log_of(queues=a_watch("Queue", VOLCANO, *ALL[1:3]))
    result = run("diff", "rv:1", "--log", log)
    assert result.exit_code == 0
    assert result.stdout.startswith("from  rv:10")
    assert "begins there" in result.stderr
    result = run("events", "--since", "rv:1", "--log", log, "-o", "ndjson")
    assert len(result.stdout.splitlines()) == 4
    assert "rv:1 is before the log's first revision, rv:6: the range begins there" in result.stderr
    for question in (("diff", "rv:1"), ("events", "--since", "rv:1")):
        assert run(*question, "--log", log, "--strict").exit_code == 2


def test_a_session_says_first_what_is_missing(run: Run, log_of: Callable[..., str]) -> None:
    log = log_of(pods=a_list(at(9, POD), at(8, GROUP)))
    result = run("session", "--log", log, "-v")
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert lines[0].startswith("warning: THE LOG LACKS WHAT SESSIONS NEED (@")
    assert lines[1].startswith("  - the log holds no configuration of the scheduler: each release")
    assert lines[2:6] == [
        "  - nodes, queues: not fully known: the log holds no complete list",
        "  - no nodes are known: sessions place no pods",
        "  - no queues are known: sessions ignore every PodGroup",
        "What to do:",
    ]
    assert "--conf" in lines[6]
    assert [line for line in lines if "ingest a list of" in line]
    assert lines[-1].startswith("session at ")
    shown = json.loads(run("session", "--log", log, "-o", "json").stdout)
    assert [one["kind"] for one in shown["not_known"]] == ["Node", "Queue"]


def test_drift_claims_nothing_of_what_the_log_lacks(run: Run, log_of: Callable[..., str]) -> None:
    log = log_of(pods=a_list(at(9, POD), at(8, GROUP)))
    last = run("drift", "--log", log).stderr.splitlines()[-1]
    assert last.startswith("Nothing differs at @")
    assert last.endswith(" in what the log knows. It lacks nodes, queues.")
    shown = json.loads(run("drift", "--log", log, "-o", "json").stdout)
    assert [one["kind"] for one in shown["not_known"]] == ["Node", "Queue"]
    with plinian.open(log) as opened:
        assert [one.pair[1] for one in opened.drift().not_known] == ["Node", "Queue"]


@pytest.mark.parametrize(
    "question",
    [
        ("session", "--release", "v1.8.2", "--release", "v1.12.1"),
        ("diff", "rv:8", "--release", "v1.12.1"),
        ("bisect", "--pending", "ml/train-0"),
        ("bisect", "--pending", "ml/train-0", "--releases", "v1.12.0..v1.12.1"),
        ("upgrade-check", "--from", "v1.8.2", "--to", "v1.12.1", "-j", "1"),
    ],
    ids=lambda words: " ".join(words[:1] + words[3:4]),
)
def test_whatever_compares_sessions_says_first_what_is_missing_and_tells_it_in_json(
    run: Run, log_of: Callable[..., str], question: tuple[str, ...]
) -> None:
    log = log_of(pods=a_list(at(8, GROUP), at(9, POD)))
    result = run(*question, "--log", log, "-o", "json", "-v")
    first = [line for line in result.stderr.splitlines() if "begins there" not in line]
    assert first[0].startswith("warning: THE LOG LACKS WHAT SESSIONS NEED"), result.stderr
    assert first[1].startswith("  - the log holds no configuration of the scheduler")
    assert first[2].startswith("  - nodes, queues")
    document = json.loads(result.stdout)
    assert {one["kind"] for one in document["not_known"]} >= {"Node", "Queue"}
    assert "unsure" in document or all("unsure" in side for side in document["sides"])
    assert run(*question, "--log", log, "--strict").exit_code == 2


def test_a_missing_configuration_alone_is_told_first_and_refused_by_strict(
    run: Run, log_of: Callable[..., str], tmp_path: Path
) -> None:
    log = log_of(all=a_list(*ALL, at(9, POD)))
    result = run("session", "--log", log)
    assert result.stderr.splitlines()[0] == (
        "warning: the log holds no configuration of the scheduler (-v says more)"
    )
    refused = run("session", "--log", log, "--strict")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "no configuration of the scheduler" in refused.stderr
    (tmp_path / "own.conf").write_text(HIERARCHICAL, "utf-8")
    given = run("session", "--log", log, "--strict", "--conf", str(tmp_path / "own.conf"))
    assert (given.exit_code, warnings(given)) == (0, [])


def test_a_scenario_without_nodes_or_configuration_is_told_before_its_results(
    run: Run, tmp_path: Path
) -> None:
    story = {"steps": [{"events": [{"type": "ADDED", "object": QUEUES[0]}]}]}
    (tmp_path / "a.case.json").write_bytes(compact(story))
    result = run("simulate", str(tmp_path / "a.case.json"), "--release", "v1.12.1")
    assert result.stderr.splitlines() == [
        f"warning: {tmp_path / 'a.case.json'} LACKS WHAT SESSIONS NEED:",
        "  - no configuration of the scheduler: each release runs with its built-in configuration",
        "  - no nodes: sessions place no pods",
    ]


def test_the_document_of_a_difference_has_what_is_not_known_at_either_end(
    run: Run, log_of: Callable[..., str]
) -> None:
    log = log_of(queues=a_watch("Queue", VOLCANO, *ALL[1:3]), pods=a_list(at(30, POD)))
    for more in ((), ("--summary",), ("--who",)):
        document = json.loads(run("diff", "rv:12", "--log", log, "-o", "json", *more).stdout)
        known = {(one["kind"], one["why"]) for one in document["not_known"]}
        never = {("Node", "never"), ("PodGroup", "never")}
        assert known == {("Pod", "before"), ("Queue", "after"), *never}


def test_a_history_warns_of_a_hole_between_its_versions(
    run: Run, log_of: Callable[..., str]
) -> None:
    seen, unseen = (copy.deepcopy(QUEUES[0]) for _ in range(2))
    seen["metadata"]["name"], seen["metadata"]["uid"] = "still", "uid-of-still"
    mark, end = initial_end(10, "Queue")
    end["apiVersion"] = VOLCANO
    first = watched(("ADDED", at(5, unseen)), ("ADDED", at(6, seen)), (mark, end))
    unseen["spec"] = {"weight": 7}
    mark, end = initial_end(90, "Queue")
    end["apiVersion"] = VOLCANO
    second = watched(("ADDED", at(60, unseen)), ("ADDED", at(6, seen)), (mark, end))
    log = log_of(first=first, second=second)
    assert warnings(run("history", "queue/still", "--log", log, "--strict")) == []
    (warning,) = warnings(run("history", "queue/default", "--log", log))
    assert "queues: not known between rv:10" in warning
    assert "and rv:90" in warning
    (told,) = json.loads(run("history", "queue/default", "--log", log, "-o", "json").stdout)[
        "not_known"
    ]
    assert (told["why"], told["after"], told["before"]) == ("hole", 10, 90)
    assert run("history", "queue/default", "--log", log, "--strict").exit_code == 2
    assert warnings(run("history", "queue/default", "--log", log, "--at", "rv:10")) == []


HIERARCHICAL = """
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
- plugins:
  - name: predicates
  - name: capacity
    enableHierarchy: true
"""


def test_a_panic_that_comes_of_missing_queues_is_not_told_as_the_schedulers(
    run: Run, log_of: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "volcano-scheduler.conf").write_text(HIERARCHICAL, "utf-8")
    asked = ("session", "--conf", str(tmp_path / "volcano-scheduler.conf"))
    log = log_of(some=a_list(ALL[0], ALL[3], at(9, POD)))
    result = run(*asked, "--log", log)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "possibly only because of what the log lacks: queues" in result.stderr
    page = Page(run("report", *asked[1:], "--log", log, "-o", "-").stdout)
    assert "It is not known what the session decides." in page.text
    assert "possibly only because of what the log lacks: queues" in page.text
    assert "The scheduler panics:" not in page.text
    assert "PodGroups after the session" not in page.tables


def test_sessions_before_the_first_lists_are_left_out_and_counted(
    run: Run, log_of: Callable[..., str]
) -> None:
    log = log_of(
        nodes=a_watch("Node", "v1", ALL[0]),
        queues=a_watch("Queue", VOLCANO, *ALL[1:3]),
        groups=a_watch("PodGroup", VOLCANO, ALL[3]),
        pods=a_watch("Pod", "v1", at(9, POD)),
    )
    result = run("upgrade-check", "--from", "v1.8.2", "--to", "v1.12.1", "--log", log, "-j", "1")
    assert result.exit_code == 0, result.stderr
    assert "sessions before rv:10 are left out" in result.stderr
    assert json.loads(
        run(
            *("upgrade-check", "--from", "v1.8.2", "--to", "v1.12.1"),
            *("--log", log, "-j", "1", "-o", "json"),
        ).stdout
    )["sessions"]


def test_status_says_what_a_log_holds_and_lacks(run: Run, log_of: Callable[..., str]) -> None:
    log = log_of(
        nodes=a_watch("Node", "v1", ALL[0]),
        queues=a_watch("Queue", VOLCANO, *ALL[1:3]),
        list=a_list(at(9, POD)),
    )
    shown = run("status", "--log", log).stdout
    assert [line.split()[:2] for line in shown.splitlines() if line.startswith("podgroups")] == [
        ["podgroups", "never"]
    ]
    (found,) = json.loads(run("status", "--log", log, "-o", "json").stdout)["clusters"]
    assert yaml.safe_load(run("status", "--log", log, "-o", "yaml").stdout)["clusters"] == [found]
    assert [one["format"] for one in found["inputs"]] == ["list", "watch", "watch"]
    by_kind = {one["kind"]: one["complete"] for one in found["coverage"]}
    assert [(one["first"], one["last"]) for one in by_kind["Node"]] == [(10, 20)]
    assert by_kind["Pod"][0]["open"]
    assert found["missing"] == [{"group": "scheduling.volcano.sh", "kind": "PodGroup"}]
    assert any("kubectl get podgroups -A -o json" in advice for advice in found["advice"])
    assert any("audit log" in advice for advice in found["advice"])


def test_status_of_the_demonstration_misses_no_kind(run: Run, demo_log: str) -> None:
    (found,) = json.loads(run("status", "--log", demo_log, "-o", "json").stdout)["clusters"]
    assert found["missing"] == []
    assert sum(one["events"] for one in found["inputs"]) == found["events"] == found["last"]


def test_status_shows_all_clusters_of_a_log(run: Run, tmp_path: Path) -> None:
    log = str(tmp_path / "two.db")
    for cluster, one in (("east", ALL[0]), ("west", ALL[1])):
        (tmp_path / "one.json").write_bytes(a_list(one))
        run("ingest", str(tmp_path / "one.json"), "--log", log, "--cluster", cluster)
    found = json.loads(run("status", "--log", log, "-o", "json").stdout)["clusters"]
    assert [(one["cluster"], one["events"]) for one in found] == [("east", 2), ("west", 2)]


def test_a_scenario_tells_everything(run: Run, tmp_path: Path) -> None:
    story = {"steps": [{"events": [{"type": "ADDED", "object": NODE}]}]}
    (tmp_path / "a.case.json").write_bytes(compact(story))
    log = str(tmp_path / "case.db")
    run("ingest", str(tmp_path / "a.case.json"), "--log", log)
    result = run("session", "--log", log, "--strict")
    assert (result.exit_code, warnings(result)) == (0, [])
    assert "A scenario is complete" in run("status", "--log", log).stdout


def test_what_is_computed_from_a_kind_that_is_not_known_is_not_told_as_none(
    run: Run, log_of: Callable[..., str]
) -> None:
    log = log_of(all=a_list(*ALL))
    for question, expected in (
        (("get", "queues"), ["default Open 1 <none> <none> <none> <none> <unknown> <unknown>"]),
        (("get", "podgroups", "-n", "ml"), ["train Pending 1 <unknown> default"]),
        (("get", "nodes", "-o", "wide"), ["<unknown>/8 <unknown>/16Gi <unknown>/110"]),
        (("describe", "node/n1"), ["cpu 8 <unknown> <unknown> <unknown>"]),
    ):
        where = " in ml" if "ml" in question else ""
        result = run(*question, "--log", log)
        assert warnings(result) == [
            f"warning: pods{where}: not fully known: the log holds no complete list"
        ]
        shown = " ".join(result.stdout.split())
        assert [text for text in expected if text not in shown] == [], result.stdout
        assert run(*question, "--log", log, "--strict").exit_code == 2
        bare = (*question[:2], "-A", "-o", "json")
        if question[0] == "get":
            assert warnings(run(*bare, "--log", log, "--strict")) == []


def test_none_is_a_fact_where_the_log_holds_all(run: Run, log_of: Callable[..., str]) -> None:
    log = log_of(all=a_list(*ALL, at(9, POD)))
    (node,) = run("get", "nodes", "-o", "wide", "--no-headers", "--log", log).stdout.splitlines()
    assert node.split()[-3:] == ["0/8", "0/16Gi", "0/110"]
    queue = run("get", "queue/root", "--no-headers", "--log", log).stdout.split()
    assert queue[-3:-1] == ["<none>", "0"]


def test_the_allocation_and_podgroups_of_a_queue_are_not_known_without_podgroups(
    run: Run, log_of: Callable[..., str]
) -> None:
    status = {"state": "Open", "allocated": {"cpu": "17"}}
    queue = an_object("Queue", "gold", api=VOLCANO, spec={"weight": 1}, status=status)
    log = log_of(all=a_list(at(5, queue), at(9, POD)))
    result = run("describe", "queue/gold", "--log", log)
    assert warnings(result) == [
        "warning: podgroups: not fully known: the log holds no complete list"
    ]
    shown = " ".join(result.stdout.split())
    assert "PodGroups: <unknown>" in shown
    assert "cpu <none> <none> <none> <unknown> 17" in shown
    result = run("get", "pods", "-A", "-o", "wide", "--log", log)
    assert " ".join(result.stdout.splitlines()[1].split()).endswith("train <unknown> <none>")
    assert warnings(run("get", "pods", "-A", "--log", log, "--strict")) == []

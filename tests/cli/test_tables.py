"""Answers as tables: pandas and Arrow have what ``-o json`` prints, whatever was asked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from asked_both_ways import MOMENT, NEW, OLD, TIME
from recorded_cluster import RecordedCluster
from shared_parent import scenario

import plinian
from plinian.engine.kubernetes.units import format_time, parse_quantity, parse_time

pytest.importorskip("pandas", reason="an extra")
pytest.importorskip("pyarrow", reason="an extra")

Log = plinian.Log
Json = Any
Rows = list[dict[str, Any]]
HOSTILE = "<script>alert(1)"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Give the log of the demonstration."""
    with plinian.demo(tmp_path_factory.mktemp("demo") / "demo.db") as log:
        yield log


def rows(result: Any, table: str = "") -> Rows:
    """Return the rows of a table from Arrow; pandas must have the same.

    Times are text as JSON has them.
    """
    frame, arrow = result.to_pandas(table), result.to_arrow(table)
    found: Rows = arrow.to_pylist()
    assert list(frame.columns) == arrow.column_names
    for name in frame.columns:
        column = [None if absent(one) else one for one in frame[name]]
        assert column == [row[name] for row in found], name
    return [{name: plain(value) for name, value in row.items()} for row in found]


def absent(value: Any) -> bool:
    """Say whether a cell of pandas is empty."""
    return str(value) in {"None", "<NA>", "NaT", "nan"}


def plain(value: Any) -> Any:
    """Return a cell as JSON would have it."""
    if isinstance(value, datetime):
        return format_time(parse_time(value.isoformat().replace("+00:00", "Z")))
    return value


def amount(text: str) -> float:
    """Return the number of a quantity."""
    return float(parse_quantity(text))


def object_of(fields: Json) -> dict[str, str]:
    """Return the columns that name an object."""
    return {name: fields[name] for name in ("kind", "namespace", "name")}


def drift_rows(found: Json) -> Rows:
    return [{**one, "since": one["since"]} for one in found["differences"]]


def check_rows(found: Json) -> Rows:
    return [
        {
            "invariant": one["invariant"],
            "severity": one["severity"],
            "object": "/".join(filter(None, (one["object"]["namespace"], one["object"]["name"]))),
            "message": one["message"],
            "since_position": one["since"]["position"],
            "since_time": one["since"]["time"],
            "since_earliest": one["since"]["earliest"],
            "since_latest": one["since"]["latest"],
            "lasted": one["lasted_seconds"],
        }
        for one in found["unsettled"]
    ]


def lint_rows(found: Json) -> Rows:
    same = ("rule", "severity", "effect", "file", "line", "field", "message", "releases")
    return [
        {**{name: one[name] for name in same}, **object_of(one["object"])}
        for one in found["findings"]
    ]


def upgrade_rows(found: Json) -> Rows:
    return [
        {
            "at": one["at"],
            "position": one["position"],
            "decision": one["kind"],
            "object": one["about"],
            "old": one["values"][0],
            "new": one["values"][1],
            "causes": [" and ".join(cause) for cause in group["causes"]],
        }
        for group in found["groups"]
        for one in group["decisions"]
    ]


def session_rows(found: Json) -> Rows:
    binds = [{"decision": "bind", "object": pod, "value": node} for pod, node in found["binds"]]
    phases = [
        {"decision": "phase", "object": key, "value": group[1]}
        for key, group in found["podgroups"].items()
    ]
    enqueued = [{"decision": "enqueue", "object": key, "value": "yes"} for key in found["enqueued"]]
    return [*enqueued, *binds, *phases]


def queue_rows(found: Json) -> Rows:
    return [
        {"queue": name, "allocated.cpu": amount(queue[0]["cpu"])}
        for name, queue in found["queues"].items()
    ]


def sides_rows(found: Json) -> Rows:
    return found["decisions"]  # type: ignore[no-any-return]


def belief_rows(found: Json) -> Rows:
    return [
        {"name": one["name"], "state": one["state"], "used.cpu": amount(one["used"]["cpu"])}
        for one in found["nodes"]
    ]


def happening_rows(found: Json) -> Rows:
    return [
        {"position": one["position"], "kind": one["kind"], "actor": one["actor"]}
        for one in found["happenings"]
    ]


def changed_rows(found: Json) -> Rows:
    return [
        {"name": one["object"]["name"], "field": each["path"], "after": _json(each, "new")}
        for one in found["changed"]
        for each in one["changes"]
    ]


def _json(change: Json, side: str) -> str | None:
    if side not in change:
        return None
    return msgspec.json.encode(change[side], order="deterministic").decode()


def reason_rows(found: Json) -> Rows:
    return [
        {"reason": one["reason"], "text": one["text"], "blocks": one.get("blocks", False)}
        for one in found["chain"]
    ]


def miss_rows(found: Json) -> Rows:
    groups = [group for link in found["chain"] for group in link.get("groups", ())]
    near = {one["node"]: one for group in groups for one in group["nearest"]}
    return [
        {
            "node": node,
            "text": group["text"],
            "missing.cpu": amount(near[node]["missing"]["cpu"])
            if "cpu" in near.get(node, {}).get("missing", {})
            else None,
        }
        for group in groups
        for node in group["nodes"]
    ]


def part_rows(found: Json) -> Rows:
    return [
        {
            "about": one["about"],
            "amount": amount(one["amount"]),
            "position": one["event"]["position"],
            "time": format_time(parse_time(one["event"]["estimate"])),
        }
        for one in found["parts"]
    ]


def fidelity_rows(found: Json) -> Rows:
    same = ("number", "id", "how", "opened", "position", "revision", "exact", "runs")
    return [{name: one[name] for name in same} for one in found["by_session"]]


def count_rows(found: Json) -> Rows:
    return [
        {"about": of, **found[of]}
        for of in ("bindings", "evictions", "phases", "conditions", "panics")
    ]


def listed_rows(found: Json) -> Rows:
    same = ("number", "id", "how", "opened", "closed", "revision", "position", "binds")
    return [{name: one[name] for name in same} for one in found]


def answer_rows(found: Json) -> Rows:
    return [{"at": one["at"], "holds": one["answer"]} for one in found["probes"]]


def same_rows(found: Json) -> Rows:
    return found  # type: ignore[no-any-return]


def remedy_rows(found: Json) -> Rows:
    return found["found"]  # type: ignore[no-any-return]


ASKED: list[tuple[str, str, Callable[[Log], Any], Callable[[Json], Rows]]] = [
    ("drift", "", lambda log: log.drift(at=MOMENT), drift_rows),
    ("check", "unsettled", lambda log: log.check(), check_rows),
    ("lint", "", lambda log: log.lint(at=MOMENT), lint_rows),
    ("upgrade", "", lambda log: log.upgrade_check(from_=OLD, to=NEW, sample=9), upgrade_rows),
    ("session", "", lambda log: log.session(at="rv:470"), session_rows),
    ("session queues", "queues", lambda log: log.session(at=MOMENT), queue_rows),
    ("what if", "", lambda log: log.what_if(at=MOMENT, add_nodes="node-3"), sides_rows),
    ("belief", "nodes", lambda log: log.belief(at=MOMENT), belief_rows),
    ("history", "", lambda log: log.history("node/node-1"), happening_rows),
    ("why", "", lambda log: log.why("job/gpu-2", at=MOMENT), reason_rows),
    ("why nodes", "nodes", lambda log: log.why("job/gpu-2", at=MOMENT), miss_rows),
    ("blame", "", lambda log: log.blame("queue/gold", "allocated.cpu", at=MOMENT), part_rows),
    ("fidelity", "sessions", lambda log: log.fidelity(since="rv:400", until=TIME), fidelity_rows),
    ("counts", "counts", lambda log: log.fidelity(at=MOMENT), count_rows),
    ("sessions", "", lambda log: log.sessions(until=TIME), listed_rows),
    ("branches", "", lambda log: log.branches(), same_rows),
    (
        "bisect",
        "",
        lambda log: log.bisect(bound="default/gpu-2-gpu-0", at=MOMENT, releases=f"{NEW}..v1.13.0"),
        answer_rows,
    ),
    ("helps", "", lambda log: log.what_would_help("job/gpu-2", at=MOMENT), remedy_rows),
]


@pytest.mark.parametrize(
    ("table", "ask", "told"), [one[1:] for one in ASKED], ids=[one[0] for one in ASKED]
)
def test_a_table_has_what_json_prints(
    demo: Log, table: str, ask: Callable[[Log], Any], told: Callable[[Json], Rows]
) -> None:
    result = ask(demo)
    expected = told(plinian.document(result))
    found = rows(result, table)
    names = expected[0].keys() if expected else ()
    assert [{name: row[name] for name in names} for row in found] == expected
    assert expected or (table == "" and not result.tables()[next(iter(result.tables()))].count)


def test_the_fields_that_differ_are_those_that_json_prints(demo: Log) -> None:
    found = demo.diff(MOMENT, "2026-11-21T01:54:11Z", kinds=["nodes"])
    table = rows(found)
    document = plinian.document(found)
    expected = changed_rows(document)
    assert expected
    changed = [row for row in table if row["change"] == "changed"]
    assert [{name: row[name] for name in expected[0]} for row in changed] == expected
    assert [row["name"] for row in table if row["change"] == "removed"] == ["node-4"]
    cpu = [row for row in rows(found, "nodes") if row["resource"] == "cpu"]
    assert {row["name"]: (row["before"], row["after"], row["allocatable"]) for row in cpu} == {
        "node-0": (6.5, 4.5, 8.0),
        "node-1": (6.5, 0.0, 8.0),
        "node-2": (4.5, 6.5, 8.0),
        "node-3": (8.0, 4.0, 8.0),
        "node-4": (7.5, None, 8.0),
    }


def test_objects_are_rows_with_their_times(demo: Log) -> None:
    found = demo.get("nodes", at=MOMENT)
    table = rows(found)
    assert [row["name"] for row in table] == [one["metadata"]["name"] for one in found]
    assert [msgspec.json.decode(row["object"]) for row in table] == found
    assert [row["created"] for row in table] == [
        one["metadata"]["creationTimestamp"] for one in found
    ]


def test_events_are_a_table_of_what_was_not_read_yet(demo: Log) -> None:
    events = demo.events(kinds="pod.bound")
    first = list(islice(events, 3))
    shown = events._repr_html_()
    assert "the first 20 events" in shown
    table = rows_of_events(events)
    whole = list(demo.events(kinds="pod.bound"))
    assert [one.position for one in whole] == [one.position for one in first] + table
    assert list(events) == []
    with pytest.raises(plinian.UsageError, match="have no end"):
        demo.events(follow=True).to_pandas()
    assert "without end" in demo.events(follow=True)._repr_html_()


def rows_of_events(events: Any) -> list[int]:
    frame = events.to_pandas()
    assert str(frame["recorded_at"].dtype) == "datetime64[us, UTC]"
    return [int(one) for one in frame["position"]]


def test_the_state_is_that_of_the_tables_of_exports(demo: Log, tmp_path: Path) -> None:
    from pyarrow import parquet  # noqa: PLC0415

    file = tmp_path / "queues.parquet"
    demo.export(file, what="queues", every="30s")
    assert demo.series("queues", every="30s").to_arrow() == parquet.read_table(file)
    cpu = [one for one in demo.state("queues", at=MOMENT) if one.resource == "cpu"]
    assert {one.queue: one.allocated for one in cpu}["gold"] == 17.0
    assert {one.time for one in cpu} == {parse_time(TIME)}
    with pytest.raises(plinian.UsageError, match="no table 'jobs'"):
        demo.state("jobs")


def test_scenarios_and_comparisons_are_tables(tmp_path: Path) -> None:
    done = plinian.simulate(scenario(), release=NEW)
    phases = [row for row in rows(done) if row["decision"] == "phase"]
    assert phases[0] == {
        "step": 1,
        "decision": "phase",
        "object": next(iter(done.steps[0].podgroups)),
        "value": next(iter(done.steps[0].podgroups.values())).phase,
    }
    case = tmp_path / "a.case.json"
    case.write_bytes(msgspec.json.encode(scenario()))
    with plinian.open(tmp_path / "a.db", create=True) as log:
        log.ingest(case)
        found = log.compare(releases=[OLD, NEW])
    assert list(found.to_pandas().columns) == ["decision", "object", OLD, NEW]
    assert [tuple(row.values())[2:] for row in rows(found)] == [
        tuple(row.values) for row in found.decisions
    ]
    assert found.decisions


def test_releases_are_tables() -> None:
    for found in (plinian.behaviours(NEW), plinian.release_diff(OLD, NEW), plinian.unproven()):
        assert [row["behaviour"] for row in rows(found)] == [one.behaviour for one in found]
    assert rows(plinian.releases())[0]["name"] == "v1.8.0"


EVERYTHING: list[tuple[str, Callable[[Log], Any]]] = [
    ("get", lambda log: log.get("pods")),
    ("state", lambda log: log.state("pods")),
    ("events", lambda log: log.events()),
    ("not known", lambda log: log.not_known()),
    ("diff", lambda log: log.diff("@0", "end")),
    ("history", lambda log: log.history(f"pod/{HOSTILE}")),
    ("status", lambda log: log.status()),
    ("session", lambda log: log.session(trace=True)),
    ("compare", lambda log: log.compare(releases=[OLD, NEW])),
    ("sessions", lambda log: log.sessions()),
    ("why", lambda log: log.why(f"pod/{HOSTILE}")),
    ("blame", lambda log: log.blame("queue/q", "allocated.cpu")),
    ("what if", lambda log: log.what_if(fields="queue/q.spec.weight=2")),
    ("helps", lambda log: log.what_would_help(f"pod/{HOSTILE}")),
    ("belief", lambda log: log.belief()),
    ("drift", lambda log: log.drift()),
    ("check", lambda log: log.check()),
    ("lint", lambda log: log.lint()),
    ("fidelity", lambda log: log.fidelity()),
    ("upgrade", lambda log: log.upgrade_check(from_=OLD, to=NEW)),
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Give a log of a cluster in which a pod, and what it says, would like to be a page."""
    made = RecordedCluster()
    made.saw(0, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "n"}})
    made.saw(
        1,
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": "q", "uid": "q"},
            "spec": {"weight": 1, "capability": {"cpu": "1"}},
        },
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": HOSTILE, "namespace": "default", "uid": "g"},
            "spec": {"minMember": 1, "queue": "q"},
            "status": {"phase": "Inqueue"},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": HOSTILE,
                "namespace": "default",
                "uid": "p",
                "labels": {"a": "new\nline"},
                "annotations": {"scheduling.k8s.io/group-name": HOSTILE},
            },
            "spec": {
                "schedulerName": "volcano",
                "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}],
            },
            "status": {"phase": "Pending"},
        },
    )
    log = made.log(tmp_path_factory.mktemp("hostile") / "hostile.db")
    yield log
    log.close()


@pytest.mark.parametrize(
    "ask", [one for _, one in EVERYTHING], ids=[name for name, _ in EVERYTHING]
)
def test_no_answer_lets_a_name_into_a_notebook(hostile: Log, ask: Callable[[Log], Any]) -> None:
    result = ask(hostile)
    shown = result._repr_html_()
    assert "<script" not in shown
    assert shown.isprintable()
    if isinstance(result, Iterator):
        assert "&lt;script&gt;" in shown
        return
    for table in result.tables():
        rows(result, table)


SNIPPET = """
from datetime import UTC, datetime

import plinian

with plinian.open("plinian.db", read_only=True) as log:
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    names: list[str] = [one["metadata"]["name"] for one in log.get("pods", at=at)]
    count: int = len(log.state("queues"))
    why: str = log.why("job/train").sentence
    how: int = log.fidelity().bindings.exact
    begins: list[int] = [one.begin for one in log.sessions()]
    kinds: list[str] = [one.event.kind for one in log.events()]
    frame = log.fidelity().to_pandas("sessions")
    arrow = log.upgrade_check(from_="v1.12.1", to="v1.15.1").to_arrow()
    found = plinian.lint("queues.yaml").findings
    rule: str = found[0].rule
"""

WRONG = """
import plinian

with plinian.open("plinian.db") as log:
    sentence: int = log.why("job/train").sentence
    log.state("queues").to_panda()
"""


@pytest.mark.slow
def test_types_of_answers_are_known_to_a_type_checker(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(SNIPPET, "utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, "utf-8")
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nstrict = true\n[mypy-plinian.*]\nfollow_imports = silent\n", "utf-8"
    )

    words = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "right.py", "wrong.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "right.py" not in done.stdout, done.stdout
    assert "Incompatible types in assignment" in done.stdout
    assert 'has no attribute "to_panda"' in done.stdout

"""Tables of the state over time have the numbers of ``get``, and a timeline the lives of pods."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from plinian import Log
from plinian.replay.cli.main import app
from plinian.replay.series.series_tables import rows, samples

EVERY = 20_000_000


@pytest.fixture(scope="module")
def log(recording: Log) -> Log:
    """Return the log of the recording that comes with Plinian."""
    return recording


def test_rows_are_those_of_the_state_at_each_sample(log: Log) -> None:
    pods = list(rows(log, "pods", EVERY))
    for moment in samples(log, EVERY):
        then = {(row.pod, row.uid, row.phase, row.node) for row in pods if row.time == moment.time}
        truth = log.truth(moment).of("", "Pod")
        assert then == {
            (one.reference.name, one.reference.uid, one.fact.phase, one.fact.node) for one in truth
        }
    assert len({row.time for row in pods}) > 4


def test_a_queue_has_its_share_in_units_that_can_be_plotted(log: Log, tmp_path: Path) -> None:
    written = log.export(tmp_path / "queues.csv", what="queues", every="10s")
    with (tmp_path / "queues.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert len(found) == written
    gold = [row for row in found if row["queue"] == "gold" and row["resource"] == "cpu"]
    assert max(float(row["allocated"]) for row in gold) == 17
    silver = [row for row in found if row["queue"] == "silver" and row["resource"] == "memory"]
    assert {row["capability"] for row in silver if row["capability"]} == {str(64.0 * 2**30)}


def test_parquet_and_json_lines_have_the_rows_of_csv(log: Log, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    counts = {
        name: log.export(tmp_path / name, what="nodes", every="30s")
        for name in ("n.csv", "n.ndjson", "n.parquet")
    }
    assert len(set(counts.values())) == 1
    lines = (tmp_path / "n.ndjson").read_text("utf-8").splitlines()
    table = parquet.read_table(tmp_path / "n.parquet").to_pylist()
    assert [row["used"] for row in table] == [json.loads(line)["used"] for line in lines]


def spans(log: Log, path: Path) -> list[dict[str, Any]]:
    """Write the timeline, and return its spans."""
    log.export(path, what="timeline")
    found = json.loads(path.read_bytes())["traceEvents"]
    return [one for one in found if one["ph"] == "X"]


def test_a_pod_waits_starts_and_runs_without_a_gap(log: Log, tmp_path: Path) -> None:
    lives: dict[str, list[dict[str, Any]]] = {}
    for span in spans(log, tmp_path / "timeline.json"):
        if "uid" in span["args"]:
            lives.setdefault(span["args"]["uid"], []).append(span)
    whole = [life for life in lives.values() if len(life) == 3]
    assert len(whole) > 20
    for life in whole:
        assert [span["name"] for span in life] == ["waits", "starts", "runs"]
        assert life[0]["args"]["node"] == ""
        assert life[2]["args"]["node"]
        for one, following in itertools.pairwise(life):
            assert one["ts"] + one["dur"] == following["ts"]


def test_sessions_are_those_that_the_scheduler_logged(log: Log, tmp_path: Path) -> None:
    found = [span for span in spans(log, tmp_path / "t.json") if span["name"] == "session"]
    assert len(found) == sum(1 for _ in log.events(kinds="session.closed"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["out.csv", "--what", "clouds"], "cannot export 'clouds'"),
        (["out.csv", "--what", "timeline"], "a timeline is JSON"),
        (["out.csv", "--what", "pods", "--every", "soon"], "invalid --every"),
        (["out.csv", "--what", "pods", "--every", "0s"], "samples"),
    ],
    ids=["what", "form", "every", "never"],
)
def test_what_cannot_be_exported_is_refused(
    log: Log, tmp_path: Path, words: list[str], said: str
) -> None:
    place = tmp_path / words[0]
    result = CliRunner().invoke(app, ["export", str(place), *words[1:], "--log", log.place])
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert not place.exists()

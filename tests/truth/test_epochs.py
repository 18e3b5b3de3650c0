"""Two histories of one cluster in one log: the last one is meant, unless another is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusters import initial_end, pod, watched
from plinian.engine.errors import UsageError
from plinian.engine.events.epochs import base_of, epoch_of, latest_epoch, next_epoch, only_epochs
from plinian.replay.ingest.ingest_run import IngestOptions, ingest_at
from plinian.replay.logs.log import opened
from plinian.replay.logs.log_summary import summary_of


def test_names_of_epochs() -> None:
    assert [next_epoch("a"), next_epoch("a~2"), next_epoch("a~9")] == ["a~2", "a~3", "a~10"]
    assert [epoch_of("a"), epoch_of("a~12"), epoch_of("a~b"), epoch_of("~2")] == [1, 12, 1, 1]
    assert [base_of("a~12"), base_of("a~b"), base_of("~2"), base_of("a~2~3")] == [
        *("a", "a~b", "~2", "a~2"),
    ]
    assert latest_epoch(["b", "a", "a~10", "a~9"], "a") == "a~10"
    assert latest_epoch(["b"], "a") == "a"
    assert only_epochs(["a", "a~2"]) == "a~2"
    assert only_epochs(["a", "b"]) is None
    assert only_epochs([]) is None


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for number, cluster in enumerate(("prod", "prod~2", "prod~10")):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(watched(("ADDED", pod(f"p-{number}", 10)), initial_end(11)))
        ingest_at(tmp_path / "log.db", [str(path)], IngestOptions(cluster=cluster))
    return tmp_path / "log.db"


def test_the_last_epoch_is_meant_unless_another_is_named(place: Path) -> None:
    with opened(place) as log:
        assert [found["metadata"]["name"] for found in log.get("pods")] == ["p-2"]
        assert summary_of(log).cluster == "prod~10"
    with opened(place, cluster="prod") as log:
        assert [found["metadata"]["name"] for found in log.get("pods")] == ["p-0"]


def test_epochs_beside_another_cluster_have_to_be_named(place: Path, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_bytes(watched(("ADDED", pod("p", 10)), initial_end(11)))
    ingest_at(place, [str(tmp_path / "other.jsonl")], IngestOptions(cluster="other"))
    with opened(place) as log, pytest.raises(UsageError, match="the log holds 4 clusters"):
        log.get("pods")

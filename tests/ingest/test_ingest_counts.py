"""What an ingestion says of events is by how much the log has grown, kind by kind."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from decisions import decided
from ingest.test_exported_logs import STACK
from ingest.test_external_inputs import lines, usage
from ingest.test_scheduler_conf import CONF
from plinian.engine.ingest.format_registry import FORMATS
from plinian.engine.log import LogStore, Query, open_log
from plinian.replay.ingest.ingest_run import IngestSummary, ingest
from plinian.replay.render.figures import summary_lines

DATA = Path(__file__).parent.parent / "data"
RECORDING = Path(__file__).parents[2] / "replay" / "recordings" / "quickstart"
GIVEN = ("audit-*", "list-*", "watch-*.jsonl.gz", "kubectl-*", "snapshot-*.json.gz", "vc-*.log.gz")


def inputs(folder: Path) -> list[str]:
    """Return inputs of every format; some are excerpts of others, so that they overlap."""
    conf, measured = folder / "scheduler.conf", folder / "usage.jsonl"
    panic = folder / "panic.txt"
    panic.write_text("\n".join(STACK), "utf-8")
    scenario = folder / "a.case.json"
    conf.write_text(CONF, "utf-8")
    measured.write_bytes(lines(usage()))
    scenario.write_text(json.dumps(decided()["hdrf-1"]["case"]), "utf-8")
    given = sorted(path for pattern in GIVEN for path in DATA.glob(pattern))
    given.remove(DATA / "watch-too-old.jsonl.gz")  # It tells that a watch ended, and no event.
    recorded = sorted(path for path in RECORDING.iterdir() if path.name.startswith("watch"))
    # What tells who made a version comes after the versions, and before other ones.
    recorded.insert(3, RECORDING / "audit.log.xz")
    return list(map(str, [*given, conf, measured, scenario, panic, *recorded]))


def told(store: LogStore, *paths: str) -> IngestSummary:
    """Ingest, and hold what is said against what the log holds."""
    before = store.last()
    summary = ingest(store, paths)
    grown = Counter(one.event.kind for one in store.read(Query(after=before)))
    assert summary.kinds == grown, paths
    assert summary.appended == grown.total() == store.last() - before
    assert summary.last_position == store.last()
    text = "".join(summary_lines(summary))
    assert summary.first_skipped.keys() == summary.skipped.keys()
    assert f"{summary.appended}, the log now ends at @{store.last()}\n" in text
    return summary


def test_the_counts_are_those_of_the_log_whatever_comes_in_whatever_order(
    log_place: str, tmp_path: Path
) -> None:
    formats: Counter[str] = Counter()
    paths = inputs(tmp_path)
    with open_log(log_place, create=True) as store:
        for path in paths:
            formats.update(told(store, path).formats)
        again = told(store, *paths)
        assert (again.appended, again.kinds) == (0, {})
        assert again.known > store.last() / 2
    assert formats.keys() == {one.name for one in FORMATS}


def test_what_tells_who_made_known_versions_is_counted(log_place: str) -> None:
    with open_log(log_place, create=True) as store:
        first = told(store, str(RECORDING / "watch-pods.jsonl.xz"))
        assert "version.attributed" not in first.kinds
        second = told(store, str(RECORDING / "audit.log.xz"))
        assert second.kinds["version.attributed"] > 100

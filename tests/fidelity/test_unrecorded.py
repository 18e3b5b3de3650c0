"""Sessions between two lists: what they wrote is not in the log, which is no difference."""

from __future__ import annotations

from pathlib import Path

from kubectl_lists import listed, small_cluster, take

import plinian
from plinian.replay.fidelity.report import Cause

CONF = 'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n  - name: proportion\n'
SESSION = "a81ef8ba-14a5-4a1f-96f5-cb02e74eeb5f"
LINES = (
    f"I0504 10:00:01.100001       1 session.go:193] Open Session {SESSION} with <1> Job and "
    "<1> Queues\n"
    f"I0504 10:00:01.300005       1 session.go:240] Close Session {SESSION}\n"
)


def test_what_no_watch_records_is_a_missing_input(tmp_path: Path) -> None:
    (tmp_path / "scheduler.log").write_text(LINES)
    (tmp_path / "conf.yaml").write_text(CONF)
    new = listed("Node", "n3", 90)
    new["metadata"]["creationTimestamp"] = "2026-05-04T10:06:00Z"
    later = [*small_cluster(), new]
    with plinian.open(tmp_path / "a.db", create=True) as log:
        take(log, tmp_path / "1.json", small_cluster(), "2026-05-04T10:00:00Z")
        take(log, tmp_path / "2.json", later, "2026-05-04T10:10:00Z")
        log.ingest([tmp_path / "scheduler.log", tmp_path / "conf.yaml"], year=2026)
        found = log.fidelity(release="v1.12.1")
    (session,) = found.sessions
    assert {one.name for one in session.differences} == {"ml/g"}
    assert {one.cause for one in session.differences} == {Cause.MISSING_INPUT}
    assert {one.why for one in session.differences} == {
        "no watch or audit log records what the session wrote"
    }

"""An upgrade check of lists: what they show is run, and what is between them is named a gap."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kubectl_lists import Document, listed, small_cluster, take

import plinian
from plinian import Log
from plinian.replay.render.documents import plain
from plinian.replay.render.upgrade import upgrade_lines
from plinian.replay.review.upgrade_review import upgrade_review
from plinian.replay.sessions.session_moments import SessionMoment, sampled, session_places

OLD, NEW = "v1.11.0", "v1.14.0"
FIRST, SECOND = "2026-05-04T10:00:00Z", "2026-05-04T10:10:00Z"


def waiting() -> list[Document]:
    """Return a cluster with a pod that waits, whose PodGroup then has one phase or another."""
    status = {"phase": "Inqueue"}
    waits = listed("Pod", "w", 60, spec={"schedulerName": "volcano", "containers": [{"name": "c"}]})
    waits["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "late"}
    return [
        *small_cluster(),
        listed("Queue", "r", 50, spec={"weight": 1}, status={"state": "Open"}),
        listed("PodGroup", "late", 55, spec={"queue": "r", "minMember": 1}, status=status),
        waits | {"status": {"phase": "Pending"}},
    ]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with plinian.open(tmp_path / "a.db", create=True) as opened:
        take(opened, tmp_path / "1.json", waiting(), FIRST)
        yield opened


def again(log: Log, path: Path) -> None:
    """Ingest a later list: two nodes have changed in between."""
    later = waiting()
    for one, revision in zip(later, ("70", "71"), strict=False):
        one["metadata"] |= {"resourceVersion": revision, "labels": {"x": "1"}}
    later.append(listed("Node", "n3", 90, status={}))
    take(log, path, later, SECOND)


def verdict(log: Log, one: str = OLD, other: str = NEW) -> str:
    """Return the first line."""
    return next(iter(upgrade_lines(log.upgrade_check(from_=one, to=other))))


def test_the_state_at_a_list_is_run(log: Log) -> None:
    assert verdict(log).startswith("Verdict: only phases change (1 PodGroup in 1 session)")
    assert verdict(log, NEW).startswith("Verdict: nothing changes in the 1 of ")
    assert [one.moment.label for one in session_places(log, log.moment()).found] == ["rv:60"]


def test_between_two_lists_are_gaps_and_the_verdict_names_them(log: Log, tmp_path: Path) -> None:
    again(log, tmp_path / "2.json")
    found = session_places(log, log.moment()).found
    assert [(one.moment.label, one.known) for one in found] == [
        ("rv:60", True),
        ("rv:70", False),
        ("rv:71", False),
        ("rv:90", True),
    ]
    checked = log.upgrade_check(from_=OLD, to=NEW)
    text = "".join(upgrade_lines(checked))
    assert "only phases change (1 PodGroup in 4 sessions, 2 of them in gaps of the log)" in text
    assert "rv:70 (gap)" in text
    assert "rv:60 (gap)" not in text
    document = plain(checked.document)
    assert document["effects"][0]["doubtful"] == 2
    known = {one["at"]: one["known"] for group in document["groups"] for one in group["decisions"]}
    assert known == {"rv:60": True, "rv:70": False, "rv:71": False, "rv:90": True}
    table = checked.tables()["decisions"]
    assert "known" in [column.name for column in table.columns]
    assert "rv:71 (gap)" in str(upgrade_review(checked, unfold=False).results)
    assert "nothing changes in the 2 of " in verdict(log, NEW)


def test_a_sample_takes_moments_in_gaps_only_once_no_other_is_left(
    log: Log, tmp_path: Path
) -> None:
    again(log, tmp_path / "2.json")
    found = session_places(log, log.moment()).found

    def labels(count: int) -> list[str]:
        return [one.moment.label for one in sampled(found, count)]

    assert labels(2) == ["rv:60", "rv:90"]
    assert labels(3) == ["rv:60", "rv:71", "rv:90"]
    assert labels(0) == labels(9) == ["rv:60", "rv:70", "rv:71", "rv:90"]
    assert sampled([SessionMoment(log.moment("rv:70"), 1, known=False)] * 2, 1)

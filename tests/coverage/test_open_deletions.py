"""Deletions that only an audit log tells, without their result: the object may be gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from kubectl_lists import Document, audited, pod_on, small_cluster, take, take_audit, without

import plinian
from clusters import watched
from plinian import Log
from plinian.engine.errors import NotKnown
from plinian.replay.coverage.open_deletions import maybe_deleted
from plinian.replay.render.documents import plain
from plinian.replay.truth.truth import build_index, truth_at

LISTED, ASKED, LATER = "2026-05-04T10:00:00Z", "2026-05-04T10:01:00Z", "2026-05-04T10:10:00Z"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with plinian.open(tmp_path / "a.db", create=True) as opened:
        take(opened, tmp_path / "list.json", small_cluster(), LISTED)
        yield opened


def collection(labels: str = "", fields: str = "") -> Document:
    uri = f"/api/v1/namespaces/ml/pods?labelSelector={quote(labels)}&fieldSelector={quote(fields)}"
    return audited("deletecollection", "pods", None, ASKED, uri=uri, user="dave")


def ending(log: Log) -> list[str]:
    return [pod.reference.name for pod in log.entries("pods") if pod.ending]


def test_an_object_may_be_gone_after_a_deletion_was_accepted(log: Log, tmp_path: Path) -> None:
    take_audit(log, tmp_path / "audit.log", [audited("delete", "pods", "a", ASKED)])
    (unknown,) = log.not_known("pods")
    assert unknown.name == "pod ml/a"
    assert "may be gone: a request of alice to delete" in unknown.reason
    for ask in (
        lambda: log.get("pods", strict=True),
        lambda: log.diff(LISTED, strict=True),
        lambda: log.session(strict=True),
    ):
        with pytest.raises(NotKnown, match="ml/a"):
            ask()
    assert log.session().not_known == (unknown,)
    assert unknown in log.why("pod/ml/b").not_known


def test_no_state_is_folded_for_kinds_that_no_request_deletes(log: Log, tmp_path: Path) -> None:
    take_audit(log, tmp_path / "audit.log", [audited("delete", "pods", "a", ASKED)])
    moment = log.moment("end")
    log.forget()
    assert maybe_deleted(log, moment, {("", "Node"): None, ("", "Service"): None}) == []
    assert not log._truths._kept
    (unknown,) = maybe_deleted(log, moment, {("", "Node"): None, ("", "Pod"): None})
    assert unknown.name == "pod ml/a"


def test_a_difference_counts_what_may_be_gone_as_changed(log: Log, tmp_path: Path) -> None:
    take_audit(log, tmp_path / "audit.log", [audited("delete", "pods", "a", ASKED)])
    found = log.diff("2026-05-04T10:00:30Z")
    assert [(one.object.name, one.stale) for one in found.changed] == [("a", (False, True))]
    assert found.not_known


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (collection(), ["a", "b", "c", "d", "e"]),
        (collection(labels="x=1"), ["e"]),
        (collection(labels="x notin (1)"), ["a", "b", "c", "d"]),
        (collection(fields="spec.nodeName=n2"), ["c", "d"]),
        (collection(fields="metadata.name!=a"), ["b", "c", "d", "e"]),
        (audited("deletecollection", "pods", None, ASKED, namespace="other"), []),
        (audited("deletecollection", "podgroups", None, ASKED), []),
        (audited("delete", "pods", "a", ASKED, code=403), []),
    ],
)
def test_the_deletion_of_a_collection_concerns_what_its_selectors_choose(
    log: Log, tmp_path: Path, line: Document, names: list[str]
) -> None:
    more = [*small_cluster(), pod_on("n1", "e", 45, labels={"x": "1"})]
    take(log, tmp_path / "more.json", more, "2026-05-04T10:00:10Z")
    take_audit(log, tmp_path / "audit.log", [line])
    assert ending(log) == names


def test_a_later_list_shows_what_became_of_it(log: Log, tmp_path: Path) -> None:
    take_audit(log, tmp_path / "audit.log", [collection()])
    take(log, tmp_path / "later.json", without(small_cluster(), "a", "b"), LATER)
    assert ending(log) == []
    assert {pod.reference.name for pod in log.entries("pods")} == {"c", "d"}
    assert not log.not_known("pods")


BETWEEN = "2026-05-04T10:05:00Z"


def test_before_a_later_list_the_warning_says_what_that_list_shows(
    log: Log, tmp_path: Path
) -> None:
    take_audit(log, tmp_path / "audit.log", [collection(fields="spec.nodeName=n1")])
    take(log, tmp_path / "later.json", without(small_cluster(), "a", "b"), LATER)
    (unknown,) = (one for one in log.not_known("pods", at=BETWEEN) if one.objects)
    assert unknown.objects == ("ml/a", "ml/b")
    assert unknown.reason.endswith(f", and the list of {LATER} shows that they went")
    assert unknown.remedy.startswith("ingest a watch of pods")
    document = plain(unknown)
    assert document["shown_gone_latest"] == "2026-05-04T10:10:00.999999Z"


def test_what_a_later_list_still_has_was_not_gone(log: Log, tmp_path: Path) -> None:
    take_audit(log, tmp_path / "audit.log", [collection(fields="spec.nodeName=n1")])
    take(log, tmp_path / "later.json", without(small_cluster(), "a"), LATER)
    (unknown,) = (one for one in log.not_known("pods", at=BETWEEN) if one.objects)
    assert unknown.objects == ("ml/a",)
    assert unknown.reason.endswith(f", and the list of {LATER} shows that it went")


def test_a_deletion_before_the_list_that_has_the_object_changes_nothing(
    log: Log, tmp_path: Path
) -> None:
    before = audited("delete", "pods", "a", "2026-05-04T09:59:00Z")
    take_audit(log, tmp_path / "audit.log", [before])
    assert ending(log) == []


def test_a_state_that_was_stored_between_says_the_same(log: Log, tmp_path: Path) -> None:
    lines = [audited("delete", "pods", "a", ASKED), collection(fields="spec.nodeName=n2")]
    take_audit(log, tmp_path / "audit.log", lines)
    found = ending(log)
    stored = truth_at(log.store, log.moment(), use_checkpoints=False)
    log.store.drop_derived()
    build_index(log.store, cluster="default", checkpoint_events=1)
    log.forget()
    assert found == ending(log) == ["a", "c", "d"]
    assert [one.reference.name for one in stored.of("", "Pod") if one.ending] == found


def test_requests_alone_are_a_history(tmp_path: Path) -> None:
    with plinian.open(tmp_path / "b.db", create=True) as log:
        lines = [
            audited("create", "pods", "a", LISTED, code=201, user="controller"),
            audited("delete", "pods", "a", ASKED, code=403, user="mallory"),
            audited("delete", "pods", "a", ASKED),
            {
                **audited("create", "pods", None, ASKED, code=201),
                "objectRef": {"resource": "pods", "namespace": "ml", "name": None, "uid": None},
            },
        ]
        take_audit(log, tmp_path / "audit.log", lines)
        told = [(one.actor, one.note) for one in log.history("pod/ml/a").happenings]
        assert told[0][1] == "create accepted: 201; not known: the result (level Metadata)"
        assert [actor for actor, _ in told] == ["controller", "mallory", "alice"]
        assert told[1][1].startswith("delete refused: 403")
        assert told[2][1].startswith("delete accepted: 200")


def test_events_and_history_name_the_same_actor_of_a_deletion(tmp_path: Path) -> None:
    there = pod_on("n1", "a", 41)
    with plinian.open(tmp_path / "b.db", create=True) as log:
        take(log, tmp_path / "list.json", [there, pod_on("n1", "b", 42)], LISTED)
        gone = {**there, "metadata": {**there["metadata"], "resourceVersion": "50"}}
        (tmp_path / "watch.jsonl").write_bytes(watched(("DELETED", gone)))
        log.ingest([str(tmp_path / "watch.jsonl")])
        take_audit(log, tmp_path / "audit.log", [audited("delete", "pods", "a", ASKED)])
        (event,) = log.events(kinds=["pod.deleted"])
        (told,) = [one for one in log.history("pod/ml/a").happenings if one.kind == "pod.deleted"]
        assert event.actor == told.actor == "alice"

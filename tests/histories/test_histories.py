"""The public API: a log is opened, filled, and asked; histories and differences of hard cases."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from pods import SECOND, START, bound, pod

import plinian
from plinian.engine.errors import LogNotFound, ObjectNotFound
from plinian.engine.events import Effect, Event, Reference, canonical_json
from plinian.engine.events.payloads import (
    ListObserved,
    RequestAccepted,
    RequestRefused,
    VersionAttributed,
)
from plinian.replay.histories.history import Happening

NAMED = "pod/web-0"


@pytest.fixture
def log(tmp_path: Path) -> plinian.Log:
    """Make an empty log."""
    return plinian.open(tmp_path / "log.db", create=True)


def told(log: plinian.Log, named: str = NAMED) -> list[Happening]:
    """Return the history of a pod."""
    return log.history(named, namespace="shop").happenings


def test_a_log_is_opened_by_path_and_not_made_unless_asked(tmp_path: Path) -> None:
    assert plinian.__all__ == sorted(plinian.__all__)
    with pytest.raises(LogNotFound):
        plinian.open(tmp_path / "none.db")
    with plinian.open(tmp_path / "new.db", create=True) as log:
        assert log.get("pods") == []


def test_questions_of_the_api_agree_with_each_other(log: plinian.Log) -> None:
    log.store.append([pod(3, verb="created"), pod(5), pod(9, "web-1")])
    assert [one["metadata"]["name"] for one in log.get("pods")] == ["web-0", "web-1"]
    assert log.get("pods", "web-0", at="rv:3")[0]["metadata"]["resourceVersion"] == "3"
    with pytest.raises(ObjectNotFound):
        log.get("pods", "web-1", at="rv:3")
    assert [recorded.position for recorded in log.events(kinds=("pod.created",))] == [1]
    found = log.diff("rv:3")
    assert [one.object.name for one in found.first_seen] == ["web-1"]
    assert [one.versions for one in found.changed] == [("3", "5")]
    assert not log.diff("@3", "end")
    assert log.digest("rv:9") == log.digest()
    assert log.verify().events == 3


def test_a_history_is_in_the_order_of_happening_not_of_learning(log: plinian.Log) -> None:
    log.store.append([pod(7), pod(3, verb="created")])
    log.store.append([pod(5)])
    assert [one.revision for one in told(log)] == [3, 5, 7]
    assert [one.position for one in told(log)] == [2, 3, 1]


def test_a_binding_stands_where_it_happened(log: plinian.Log) -> None:
    log.store.append([pod(3, verb="created"), pod(7), bound("web-0", "n1", at=5)])
    lines = [(one.kind, one.note) for one in told(log)]
    assert lines == [("pod.created", ""), ("pod.bound", "bound to n1"), ("pod.updated", "")]


def about_pod(kind: str, payload: bytes, *, revision: int | None, second: int) -> Event:
    """Return an event about ``web-0`` that is no version of it."""
    return Event(
        kind=kind,
        reference=Reference("", "Pod", "shop", "web-0", "uid-of-web-0"),
        payload=payload,
        revision=revision,
        resource_version="" if revision is None else str(revision),
        earliest=START + second * SECOND,
        latest=START + second * SECOND,
        actor="alice",
    )


def test_an_attribution_is_told_with_its_version_and_not_as_a_line_of_its_own(
    log: plinian.Log,
) -> None:
    who = canonical_json(VersionAttributed(verb="update"))
    log.store.append([pod(3, verb="created"), pod(5)])
    log.store.append([about_pod("version.attributed", who, revision=5, second=5)])
    lines = [(one.kind, one.actor, one.attributed_at) for one in told(log)]
    assert lines == [("pod.created", "", 0), ("pod.updated", "alice", 3)]


def test_what_a_record_leaves_open_is_said_to_be_unknown(log: plinian.Log) -> None:
    web = Reference("", "Pod", "shop", "web-0")
    body = RequestAccepted(verb="patch", subresource="status", unknown="the result")
    log.store.append(
        [
            Event(
                kind="request.accepted",
                reference=web,
                payload=canonical_json(body),
                earliest=START + 4 * SECOND,
                latest=START + 4 * SECOND,
            )
        ]
    )
    assert [one.note for one in told(log)] == ["patch/status accepted; not known: the result"]


def test_a_refused_write_is_part_of_the_history(log: plinian.Log) -> None:
    refusal = canonical_json(
        RequestRefused(verb="update", subresource="status", code=409, reason="Conflict")
    )
    log.store.append([pod(3, verb="created"), pod(7)])
    log.store.append([about_pod("request.refused", refusal, revision=None, second=5)])
    assert [one.note for one in told(log)] == ["", "update/status refused: 409 Conflict", ""]


def a_list(revision: int, *names: str, exact: bool = True) -> Event:
    """Return a complete list of pods of all namespaces."""
    uids = tuple(sorted(f"uid-of-{name}" for name in names))
    return Event(
        kind="list.observed",
        reference=Reference("", "Pod"),
        payload=canonical_json(ListObserved(group="", listed="Pod", uids=uids, exact=exact)),
        resource_version=str(revision),
        revision=revision,
    )


def test_an_object_that_a_complete_list_no_longer_holds_went_before_it(log: plinian.Log) -> None:
    log.store.append([pod(3), pod(4, "web-1"), a_list(5, "web-0", "web-1"), a_list(9, "web-1")])
    last = told(log)[-1]
    assert (last.kind, last.revision, last.uid) == ("list.observed", 9, "uid-of-web-0")
    assert "it was deleted before" in last.note
    assert [one.revision for one in told(log, "pod/web-1")] == [4]
    assert Effect(4) is Effect.LISTED


def test_a_version_after_a_complete_list_contradicts_it(log: plinian.Log) -> None:
    log.store.append([pod(3), pod(4, "web-1"), a_list(9, "web-1"), pod(11)])
    assert [one.revision for one in told(log)] == [3, 11]
    assert sorted(entry.reference.name for entry in log.truth().of("", "Pod")) == ["web-0", "web-1"]


def successor(revision: int) -> Event:
    """Return a version of another pod of the same name."""
    of = pod(revision)
    return msgspec.structs.replace(
        of, reference=msgspec.structs.replace(of.reference, uid="uid-of-next")
    )


def lines_of(log: plinian.Log, at: str = "end") -> list[tuple[str, int | None]]:
    """Return what the history of a pod says: of which object, and at which revision."""
    lines = log.history(NAMED, namespace="shop", at=at).happenings
    return [(one.uid.removeprefix("uid-of-"), one.revision) for one in lines]


def test_a_list_that_lacks_a_replaced_object_says_so_before_the_newer_object(
    log: plinian.Log,
) -> None:
    log.store.append([pod(3), successor(5), a_list(9, "next"), successor(11)])
    assert lines_of(log) == [("web-0", 3), ("web-0", 9), ("next", 5), ("next", 11)]
    absent = told(log)[1]
    assert (absent.earliest, absent.latest) == (START + 3 * SECOND, START + 5 * SECOND)
    assert lines_of(log, "@3") == [("web-0", 3), ("web-0", 9), ("next", 5)]
    assert lines_of(log, "rv:8") == [("web-0", 3), ("next", 5)], "the list was made later"
    assert lines_of(log, "rv:4") == [("web-0", 3)]


def test_a_list_that_lacks_both_objects_of_a_name_ends_the_newer_one_last(log: plinian.Log) -> None:
    log.store.append([pod(3), successor(5), a_list(9), successor(4)])
    assert lines_of(log) == [("web-0", 3), ("web-0", 9), ("next", 4), ("next", 5), ("next", 9)]
    assert not log.get("pods", namespace="shop")


@pytest.mark.parametrize("kind", ["pod.deleted", "request.accepted"])
def test_a_request_for_a_replaced_object_came_before_the_newer_object(
    log: plinian.Log, kind: str
) -> None:
    body = canonical_json({} if kind == "pod.deleted" else RequestAccepted(verb="delete"))
    request = about_pod(kind, body, revision=None, second=7)
    log.store.append([pod(3), successor(5), successor(11), request])
    assert lines_of(log) == [("web-0", 3), ("web-0", None), ("next", 5), ("next", 11)]
    assert [one["metadata"]["resourceVersion"] for one in log.get("pods", namespace="shop")] == [
        "11"
    ]
    assert log.get("pods", at="rv:5", namespace="shop")


def test_an_excerpt_does_not_show_that_an_object_was_deleted(log: plinian.Log) -> None:
    log.store.append([pod(3), pod(4, "web-1"), a_list(9, "web-1", exact=False)])
    assert [one.revision for one in told(log)] == [3]
    log.store.append([a_list(12, "web-0", "web-1", exact=False)])
    log.store.append([a_list(15, "web-1", exact=False)])
    assert [one.revision for one in told(log)] == [3, 15]


def test_the_same_position_of_two_branches_is_two_events(log: plinian.Log) -> None:
    log.store.append([pod(3, verb="created")])
    log.store.create_branch("what-if")
    log.store.append([pod(5)], branch="main")
    other = pod(6)
    log.store.append([other], branch="what-if")
    found = log.diff("@2", "what-if@2")
    assert [one.versions for one in found.changed] == [("5", "6")]
    assert not log.diff("@1", "what-if@1")

"""Of which stretches of revisions an input says that it tells everything."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest

from clusters import compact, initial_end, listed, pod, watched
from plinian.engine.events.payloads import AuditCovered, ListsJoined, WatchFollowed
from plinian.engine.ingest.audit import audit_log
from plinian.engine.ingest.lists import json_objects as object_list
from plinian.engine.ingest.reading.formats import Context, Format
from plinian.engine.ingest.watch import stream as watch_stream


def spans(form: Format, data: bytes, **options: Any) -> list[bytes]:
    context = Context(source="input", **options)
    list(form.events(io.BytesIO(data), context))
    return [event.payload for _, event in context.spans if event.kind != "list.broken"]


def followed(*events: tuple[str, dict[str, Any]], more: bytes = b"", **options: Any) -> Any:
    found = spans(watch_stream.FORMAT, watched(*events) + more, **options)
    told = [msgspec.json.decode(payload, type=WatchFollowed) for payload in found]
    return [(one.begin, one.since, one.until) for one in told]


def bookmark(revision: int) -> tuple[str, dict[str, Any]]:
    metadata = {"resourceVersion": str(revision)}
    return "BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}


BEGIN = (("ADDED", pod("a", 9)), ("ADDED", pod("b", 5)))


def test_a_bookmark_ends_what_exists_and_others_carry_a_quiet_watch_on() -> None:
    assert followed(*BEGIN, initial_end(10)) == [("marked", 10, 10)]
    assert followed(*BEGIN, initial_end(10), bookmark(70)) == [("marked", 10, 70)]
    assert followed(*BEGIN, initial_end(10), ("MODIFIED", pod("a", 12))) == [("marked", 10, 12)]


def test_what_kubectl_tells_at_first_is_whole_when_something_else_comes() -> None:
    assert followed(*BEGIN) == [], "it may have been cut off"
    assert followed(*BEGIN, ("DELETED", pod("a", 12))) == [("unmarked", 9, 12)]


def test_objects_that_come_one_after_the_other_are_no_list() -> None:
    rising = (("ADDED", pod("a", 5)), ("ADDED", pod("b", 9)))
    assert followed(*rising, ("MODIFIED", pod("a", 12))) == [("changes", 9, 12)]
    one = (("ADDED", pod("a", 5)), ("MODIFIED", pod("a", 12)))
    assert followed(*one) == [("changes", 5, 12)], "as of kubectl get pod a --watch"


def test_a_watch_from_a_revision_tells_no_list() -> None:
    change = ("MODIFIED", pod("a", 12))
    assert followed(change) == [("changes", 12, 12)]
    assert followed(change, bookmark(70)) == [("resumed", 12, 70)], "kubectl asks for no bookmarks"


def test_an_error_and_a_new_beginning_end_a_stretch() -> None:
    error = ("ERROR", {"kind": "Status", "code": 410})
    again = (("ADDED", pod("a", 12)), initial_end(90))
    stretches = [("marked", 10, 12), ("marked", 90, 90)]
    change = ("MODIFIED", pod("a", 12))
    assert followed(*BEGIN, initial_end(10), change, error, *again) == stretches
    assert followed(*BEGIN, initial_end(10), change, *again) == stretches


def test_a_line_that_is_left_out_ends_a_stretch() -> None:
    bad = b'{"type":"MODIFIED","object":{"kind":7}}\n'
    data = watched(*BEGIN, initial_end(10)) + bad + watched(("MODIFIED", pod("a", 30)))
    found = spans(watch_stream.FORMAT, data, skip_malformed=True)
    told = [msgspec.json.decode(payload, type=WatchFollowed) for payload in found]
    assert [(one.begin, one.since, one.until) for one in told] == [
        ("marked", 10, 10),
        ("changes", 30, 30),
    ]
    data = watched(BEGIN[0]) + bad + watched(initial_end(10))
    (payload,) = spans(watch_stream.FORMAT, data, skip_malformed=True)
    assert msgspec.json.decode(payload, type=WatchFollowed).begin == "changes"


def test_a_watch_that_was_cut_down_says_nothing_as_a_whole() -> None:
    assert followed(*BEGIN, initial_end(10), partial_lists=True) == []


def test_two_streams_in_one_file_are_told_apart() -> None:
    node = {"kind": "Node", "apiVersion": "v1"} | {
        "metadata": {"name": "n", "uid": "u", "resourceVersion": "3"}
    }
    both = (*BEGIN, initial_end(10), ("ADDED", node), initial_end(11, "Node"))
    found = spans(watch_stream.FORMAT, watched(*both))
    told = [msgspec.json.decode(payload, type=WatchFollowed) for payload in found]
    assert [(one.listed, one.since, one.until) for one in told] == [
        ("Pod", 10, 10),
        ("Node", 11, 11),
    ]


def test_a_watch_that_saw_a_second_namespace_was_of_all() -> None:
    for later, spaces in (("default", ("default",)), ("other", ())):
        change = ("ADDED", pod("c", 12, namespace=later))
        (payload,) = spans(watch_stream.FORMAT, watched(*BEGIN, initial_end(10), change))
        assert msgspec.json.decode(payload, type=WatchFollowed).namespaces == spaces


def test_kinds_in_a_list_without_a_revision_were_listed_at_once() -> None:
    node = {"kind": "Node", "apiVersion": "v1"} | {
        "metadata": {"name": "n", "uid": "u", "resourceVersion": "30"}
    }
    mixed = compact(listed(pod("a", 9), node, kind="List", resourceVersion=""))
    (payload,) = spans(object_list.FORMAT, mixed)
    joined = msgspec.json.decode(payload, type=ListsJoined)
    assert joined.until == 30
    assert [(one.listed, one.revision) for one in joined.kinds] == [("Pod", 9), ("Node", 30)]
    assert spans(object_list.FORMAT, compact(listed(pod("a", 9)))) == [], "it has a revision"


def record(second: int, revision: int, **fields: Any) -> bytes:
    """Return a line of an audit log: an update of a pod."""
    return (
        compact(
            {
                "kind": "Event",
                "apiVersion": "audit.k8s.io/v1",
                "level": "RequestResponse",
                "auditID": "a",
                "stage": "ResponseComplete",
                "verb": "update",
                "user": {"username": "alice"},
                "objectRef": {"resource": "pods", "namespace": "default", "name": "a"},
                "responseStatus": {"code": 200},
                "responseObject": pod("a", revision),
                "stageTimestamp": f"2026-01-02T03:04:{second:02d}.5Z",
            }
            | fields
        )
        + b"\n"
    )


def covered(*lines: bytes, **options: Any) -> AuditCovered:
    (payload,) = spans(audit_log.FORMAT, b"".join(lines), **options)
    return msgspec.json.decode(payload, type=AuditCovered)


def test_an_audit_log_covers_its_revisions_and_times() -> None:
    found = covered(record(1, 7), record(2, 8), record(9, 11), record(10, 10))
    assert (found.since, found.until, found.pause) == (7, 11, 7_000_000)
    assert found.last_at - found.first_at == 9_000_000
    (kind,) = found.kinds
    assert (kind.listed, kind.writes, kind.level, kind.until) == ("Pod", 4, "RequestResponse", None)


@pytest.mark.parametrize("level", ["Request", "Metadata"])
def test_the_lowest_level_counts(level: str) -> None:
    (kind,) = covered(record(1, 7), record(2, 8, level=level, responseObject=None)).kinds
    assert kind.level == level


@pytest.mark.parametrize(
    "unknown",
    [
        {"verb": "deletecollection", "responseObject": None},
        {"responseStatus": {"code": 504}, "responseObject": None},
        {"stage": "Panic", "responseStatus": {"code": 500}, "responseObject": None},
    ],
)
def test_a_write_of_unknown_result_ends_what_is_covered(unknown: dict[str, Any]) -> None:
    (kind,) = covered(record(1, 7), record(2, 8, **unknown), record(3, 12)).kinds
    assert kind.until == 7


def test_refused_writes_do_not_matter() -> None:
    refused = record(2, 8, level="Metadata", responseStatus={"code": 409}, responseObject=None)
    (kind,) = covered(record(1, 7), refused).kinds
    assert (kind.writes, kind.level, kind.until) == (1, "RequestResponse", None)


def test_an_audit_log_of_which_records_are_left_out_is_not_full() -> None:
    (kind,) = covered(record(1, 7), b'{"kind":"Event"\n', record(3, 12), skip_malformed=True).kinds
    assert kind.until == 0

"""What a watch stream says: recorded ones, and made-up ones that are cut, restarted or broken."""

from __future__ import annotations

import io
import json
import time
from collections import Counter
from typing import Any

import msgspec
import pytest

from clusters import compact, initial_end, pod, recorded, watched
from plinian.engine.errors import EventMalformed, FormatUnknown
from plinian.engine.events import Event
from plinian.engine.events.payloads import ListObserved, WatchInterrupted
from plinian.engine.ingest.reading.formats import Context
from plinian.engine.ingest.watch.stream import FORMAT


def read(data: bytes, **options: Any) -> tuple[list[Event], Context]:
    context = Context(source="watch.jsonl", **options)
    return list(FORMAT.events(io.BytesIO(data), context)), context


def kinds(events: list[Event]) -> list[str]:
    return [event.kind for event in events]


def lists(events: list[Event]) -> list[ListObserved]:
    return [
        msgspec.json.decode(event.payload, type=ListObserved)
        for event in events
        if event.kind == "list.observed"
    ]


def test_a_recorded_watch_of_queues_begins_with_what_exists_and_goes_on_with_changes() -> None:
    events, context = read(recorded("watch-queues.jsonl.gz"))
    assert Counter(kinds(events)) == {"queue.observed": 2, "queue.updated": 8, "list.observed": 1}
    listing = events[2]
    assert (listing.revision, listing.reference.kind) == (9028, "Queue")
    assert len(lists(events)[0].uids) == 2
    assert lists(events)[0].namespaces == ()
    assert lists(events)[0].exact
    assert context.skipped == {"bookmark": 2}
    # The newest entry of its managedFields says 2026-11-21T02:25:04Z.
    assert (events[-1].earliest, events[-1].latest) == (1795227904000000, 1795227904999999)
    assert b"managedFields" not in b"".join(event.payload for event in events)


def test_a_watch_that_kubectl_printed_has_no_bookmarks_and_so_makes_no_list() -> None:
    events, _ = read(recorded("kubectl-watch-nodes.json.gz"))
    assert lists(events) == []
    assert kinds(events)[:2] == ["node.observed", "node.updated"]
    assert kinds(events)[4] == "node.created", "added after the first change"


def test_indented_documents_say_the_same_as_lines() -> None:
    lines = recorded("watch-nodes.jsonl.gz")
    indented = "\n".join(json.dumps(json.loads(line), indent=4) for line in lines.splitlines())
    one, _ = read(lines)
    other, _ = read(indented.encode())
    assert [(e.kind, e.reference, e.revision, e.observed_at, e.payload) for e in one] == [
        (e.kind, e.reference, e.revision, e.observed_at, e.payload) for e in other
    ]
    assert [event.line for event in other][:2] == [
        1,
        2 + indented[: indented.find("\n}\n")].count("\n") + 1,
    ]


def test_a_deletion_has_the_revision_of_the_deletion_and_came_after_the_last_stamp() -> None:
    fields = [{"manager": "kubelet", "time": "2026-11-21T01:53:37Z", "fieldsV1": {}}]
    events, _ = read(
        watched(("ADDED", pod("a", 1)), ("DELETED", pod("a", 9, managedFields=fields)))
    )
    assert kinds(events) == ["pod.observed", "pod.deleted"]
    assert (events[1].revision, events[1].earliest, events[1].latest) == (9, 1795226017000000, None)


def test_what_is_added_after_the_initial_list_was_created() -> None:
    events, _ = read(
        watched(
            ("ADDED", pod("b", 4)), ("ADDED", pod("a", 2)), initial_end(5), ("ADDED", pod("c", 6))
        )
    )
    assert kinds(events) == ["pod.observed", "pod.observed", "list.observed", "pod.created"]
    assert events[2].revision == 5
    assert lists(events)[0].uids == ("uid-a", "uid-b")


def test_the_initial_list_speaks_for_one_namespace_if_all_its_objects_are_of_one() -> None:
    events, _ = read(watched(("ADDED", pod("a", 1)), initial_end(5)))
    assert lists(events)[0].namespaces == ("default",)
    events, _ = read(
        watched(("ADDED", pod("a", 1)), ("ADDED", pod("b", 2, namespace="ml")), initial_end(5))
    )
    assert lists(events)[0].namespaces == ()


def test_an_empty_initial_list_speaks_for_kinds_without_namespace_only() -> None:
    events, context = read(watched(initial_end(5)))
    assert events == []
    assert list(context.skipped) == ["empty list that does not say of which namespaces"]
    events, _ = read(watched(initial_end(5, "Node")))
    assert lists(events)[0].uids == ()


def test_a_stream_that_begins_again_tells_what_exists_again() -> None:
    events, _ = read(
        watched(
            ("ADDED", pod("a", 1)),
            ("ADDED", pod("b", 2)),
            initial_end(3),
            ("MODIFIED", pod("a", 4)),
            ("ADDED", pod("a", 4)),
            ("ADDED", pod("c", 7)),
            initial_end(9),
            ("ADDED", pod("d", 10)),
        )
    )
    assert kinds(events)[4:] == ["pod.observed", "pod.observed", "list.observed", "pod.created"]
    assert [listing.uids for listing in lists(events)] == [("uid-a", "uid-b"), ("uid-a", "uid-c")]


def test_what_went_before_the_list_was_complete_is_not_in_it() -> None:
    events, _ = read(
        watched(
            ("ADDED", pod("a", 1)), ("ADDED", pod("b", 2)), ("DELETED", pod("a", 3)), initial_end(4)
        )
    )
    assert lists(events)[0].uids == ("uid-b",)


def test_an_error_interrupts_the_watch_and_a_new_list_follows() -> None:
    gone = {
        "kind": "Status",
        "apiVersion": "v1",
        "code": 410,
        "reason": "Expired",
        "message": "old",
    }
    events, _ = read(
        watched(
            ("ADDED", pod("a", 1)),
            ("MODIFIED", pod("a", 2)),
            ("ERROR", gone),
            ("ADDED", pod("b", 9)),
        )
    )
    assert kinds(events) == ["pod.observed", "pod.updated", "watch.interrupted", "pod.observed"]
    interrupted = msgspec.json.decode(events[2].payload, type=WatchInterrupted)
    assert (interrupted.code, interrupted.reason) == (410, "Expired")
    assert events[2].reference.kind == "Pod"
    assert events[2].revision is None


def test_a_recorded_410_is_read() -> None:
    events, _ = read(recorded("watch-too-old.jsonl.gz"))
    assert kinds(events) == ["watch.interrupted"]


@pytest.mark.parametrize("cut", [1, 30, 200, -2])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_cut_last_event_is_noted_and_what_came_before_is_kept(
    cut: int, indent: int | None
) -> None:
    whole = [json.dumps({"type": "ADDED", "object": pod(name, 1)}, indent=indent) for name in "ab"]
    events, context = read(f"{whole[0]}\n{whole[1][:cut]}".encode())
    assert [event.reference.name for event in events] == ["a"]
    assert "cut off" in context.notes[0]


def test_a_last_line_without_a_line_break_is_not_cut() -> None:
    events, context = read(watched(("ADDED", pod("a", 1))).rstrip())
    assert (len(events), context.notes) == (1, [])


def test_a_broken_line_in_the_middle_is_malformed_and_named() -> None:
    one, two = watched(("ADDED", pod("a", 1))), watched(("ADDED", pod("b", 2)))
    data = one + one[:50] + b"\n" + two
    with pytest.raises(EventMalformed) as fault:
        read(data)
    assert fault.value.where == "watch.jsonl:2"
    assert fault.value.now
    events, context = read(data, skip_malformed=True)
    assert [event.reference.name for event in events] == ["a", "b"]
    assert context.skipped == {"malformed": 1}


@pytest.mark.parametrize(
    ("event", "what"),
    [
        (
            {"type": "ADDED", "object": {**pod(), "metadata": 5}},
            "$.object.metadata: expected an object",
        ),
        ({"type": "ADDED", "object": {**pod(), "spec": "x"}}, "$.object.spec: expected an object"),
        (
            {"type": "ADDED", "object": {**pod(), "status": [1]}},
            "$.object.status: expected an object",
        ),
        ({"type": "ADDED", "object": pod(uid=7)}, "$.object.metadata.uid: expected a non-empty"),
        (
            {"type": "ADDED", "object": pod(revision="abc")},
            "expected a decimal number, found 'abc'",
        ),
        ({"type": "ADDED", "object": pod(revision="9" * 30)}, "expected a number below 2^61"),
        ({"type": "ADDED", "object": pod(revision=2**61)}, "expected a number below 2^61"),
        (
            {"type": "ADDED", "object": pod(labels=["a"])},
            "$.object.metadata.labels: expected an obj",
        ),
        (
            {"type": "ADDED", "object": pod(namespace=7)},
            "$.object.metadata.namespace: expected a st",
        ),
        ({"type": "GONE", "object": pod()}, "no such watch event: 'GONE'"),
        ({"type": "ADDED", "object": [1]}, "expected a watch event"),
        ({"type": "ADDED"}, "expected a watch event"),
        ([1, 2], "expected a watch event"),
    ],
)
def test_a_wrong_field_is_named(event: Any, what: str) -> None:
    data = watched(("ADDED", pod("a", 1))) + compact(event) + b"\n"
    with pytest.raises(EventMalformed) as fault:
        read(data)
    assert what in fault.value.what
    assert fault.value.where == "watch.jsonl:2"


def test_a_key_that_occurs_twice_is_malformed() -> None:
    line = watched(("ADDED", pod("a", 1))).replace(
        b'"phase":"Pending"', b'"phase":"Pending","phase":"Running"'
    )
    with pytest.raises(EventMalformed, match="the key 'phase' occurs twice"):
        read(line)


def test_a_repeated_key_among_very_many_is_found_in_proportion_to_their_number() -> None:
    labels = {f"key-{number}": "" for number in range(60_000)}
    line = watched(("ADDED", pod("a", 1, labels=labels))).replace(
        b'"key-7":"",', b'"key-7":"",' * 2
    )
    begin = time.process_time()
    with pytest.raises(EventMalformed, match="the key 'key-7' occurs twice"):
        read(line)
    assert time.process_time() - begin < 10


def test_escapes_and_white_space_are_no_repeated_keys() -> None:
    text = json.dumps({"type": "ADDED", "object": pod("a", 1, annotations={"q": '<é"\\'})}) + "\n"
    events, _ = read(text.encode())
    assert json.loads(events[0].payload)["metadata"]["annotations"] == {"q": '<é"\\'}


def test_managed_fields_deep_inside_an_object_are_no_managers_and_stay() -> None:
    odd = {
        **pod("a", 1),
        "spec": {"template": {"managedFields": [{"time": "2026-01-01T00:00:00Z"}]}},
    }
    events, _ = read(watched(("ADDED", odd)))
    assert json.loads(events[0].payload)["spec"] == odd["spec"]
    assert events[0].observed_at is None


def test_brackets_in_the_names_of_managers_do_not_end_their_list() -> None:
    fields = [{"manager": 'x}],"', "time": "2026-11-21T01:53:37Z", "fieldsV1": {'v:"]"': {}}}]
    events, _ = read(watched(("ADDED", pod("a", 1, managedFields=fields, generation=3))))
    assert json.loads(events[0].payload) == pod("a", 1, generation=3)
    assert events[0].observed_at == 1795226017000000


def test_objects_that_are_excerpts_are_refused_with_what_to_ask_for() -> None:
    table = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {}, "rows": []}
    data = watched(("ADDED", table))
    assert not FORMAT.sniff(data, "watch.jsonl")
    with pytest.raises(FormatUnknown) as fault:
        read(data)
    assert "-o json" in fault.value.now


def test_excerpts_of_lists_are_not_taken_for_lists() -> None:
    events, _ = read(watched(("ADDED", pod("a", 1)), initial_end(5)), partial_lists=True)
    assert lists(events) == []


@pytest.mark.parametrize(
    "head",
    [
        b'{"type":"ADDED","object":{"kind":"Pod"}}',
        b'\n { "type" : "BOOKMARK",\n "object": {}}',
        b'{"object":{"kind":"Pod"},"type":"DELETED"}',
    ],
)
def test_a_watch_is_recognised_by_its_first_event(head: bytes) -> None:
    assert FORMAT.sniff(head, "anything.txt")


@pytest.mark.parametrize(
    "head",
    [
        b'{"type":"Opaque","object":{}}',
        b'{"kind":"Pod","apiVersion":"v1"}',
        b"",
        b'{"type":"ADDED"}',
    ],
)
def test_other_json_is_no_watch(head: bytes) -> None:
    assert not FORMAT.sniff(head, "watch.jsonl")


def test_a_secret_is_watched_without_its_content() -> None:
    secret = {**pod("s", 7), "kind": "Secret", "data": {"key": "aGVsbG8="}}
    events, _ = read(watched(("ADDED", secret)))
    assert events[0].reference.kind == "Secret"
    assert b"aGVsbG8" not in events[0].payload

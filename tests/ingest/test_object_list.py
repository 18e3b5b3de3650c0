"""What lists of objects say: recorded by kubectl and from the API, as JSON."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import msgspec
import pytest
import yaml

from clusters import compact, listed, pod, recorded
from plinian.engine.errors import EventMalformed, InputTruncated
from plinian.engine.events import Event
from plinian.engine.events.payloads import ListObserved
from plinian.engine.ingest.format_registry import recognise
from plinian.engine.ingest.lists.json_objects import FORMAT
from plinian.engine.ingest.reading.formats import Context


def read(data: bytes, **options: Any) -> tuple[list[Event], Context]:
    assert FORMAT.sniff(data[: 2**16], "x")
    context = Context(source="list.json", **options)
    return list(FORMAT.events(io.BytesIO(data), context)), context


def lists(events: list[Event]) -> dict[str, ListObserved]:
    return {
        event.reference.kind: msgspec.json.decode(event.payload, type=ListObserved)
        for event in events
        if event.kind == "list.observed"
    }


def test_a_raw_list_of_a_built_in_kind_gives_its_items_their_kind() -> None:
    events, _ = read(recorded("list-pods.raw.json.gz"))
    first = json.loads(events[0].payload)
    assert (first["kind"], first["apiVersion"]) == ("Pod", "v1")
    assert Counter(event.kind for event in events) == {"pod.observed": 5, "list.observed": 1}
    assert events[0].observed_at is not None


def test_a_raw_list_is_complete_at_its_own_revision() -> None:
    for name, revision in (("list-queues.raw.json.gz", 2029), ("list-nodes.raw.json.gz", 2028)):
        events, _ = read(recorded(name))
        assert events[-1].kind == "list.observed"
        assert (events[-1].revision, events[-1].resource_version) == (revision, str(revision))
        (listing,) = lists(events).values()
        assert listing.exact
        assert len(listing.uids) == len(events) - 1
        assert listing.namespaces == ()


def test_a_list_of_kubectl_speaks_for_each_kind_at_a_lower_bound() -> None:
    events, _ = read(recorded("list-all.json.gz"))
    found = lists(events)
    assert set(found) == {"Node", "Pod", "PodGroup", "Queue", "Job", "PriorityClass", "Event"}
    assert not any(listing.exact for listing in found.values())
    revisions = [event.revision or 0 for event in events if event.kind == "list.observed"]
    assert revisions == sorted(revisions), "kinds are fetched one after the other"
    items = json.loads(recorded("list-all.json.gz"))["items"]
    nodes = [int(i["metadata"]["resourceVersion"]) for i in items if i["kind"] == "Node"]
    assert revisions[0] == max(nodes)


def test_an_item_is_named_by_its_line_and_place() -> None:
    text = json.dumps(listed(pod("a"), pod("b", uid=7)), indent=2).encode()
    with pytest.raises(EventMalformed) as fault:
        read(text)
    line = text[: text.index(b'"name": "b"')].count(b"\n") + 1
    where, number = fault.value.where.split(":")
    assert where == "list.json"
    assert 0 < line - int(number) <= 4, "the line on which the item begins"
    assert "$.items[1].metadata.uid" in fault.value.what


def test_a_list_with_a_malformed_item_says_nothing_about_what_is_not_in_it() -> None:
    events, context = read(compact(listed(pod("a"), pod("b", uid=7))), skip_malformed=True)
    assert [event.kind for event in events] == ["pod.observed"]
    assert context.skipped == {"malformed": 1}


@pytest.mark.parametrize("metadata", [{"continue": "abc"}, {"remainingItemCount": 4}])
def test_a_page_of_a_list_is_not_complete(metadata: dict[str, Any]) -> None:
    events, context = read(compact(listed(pod("a"), **metadata)))
    assert lists(events) == {}
    assert context.pages == [("", "Pod", 100)]


def test_lists_that_are_said_to_be_partial_make_no_conclusion() -> None:
    events, _ = read(compact(listed(pod("a"))), partial_lists=True)
    assert lists(events) == {}


def test_a_list_of_one_namespace_speaks_for_that_namespace() -> None:
    events, _ = read(compact(listed(pod("a"), pod("b"))))
    assert lists(events)["Pod"].namespaces == ("default",)
    assert events[-1].reference.namespace == "default"
    events, _ = read(compact(listed(pod("a"), pod("b", namespace="ml"))))
    assert lists(events)["Pod"].namespaces == ()


def test_another_kind_of_the_same_request_shows_that_it_was_for_all_namespaces() -> None:
    group = {
        **pod("g", 3, namespace="ml"),
        "kind": "PodGroup",
        "apiVersion": "scheduling.volcano.sh/v1",
    }
    events, _ = read(compact(listed(pod("a"), group, kind="List", resourceVersion="")))
    assert lists(events)["Pod"].namespaces == ()


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("Queue", "scheduling.volcano.sh/v1beta1"),
        ("Numatopology", "nodeinfo.volcano.sh/v1alpha1"),
        ("RuntimeClass", "node.k8s.io/v1"),
        ("CSIDriver", "storage.k8s.io/v1"),
        ("ClusterRole", "rbac.authorization.k8s.io/v1"),
    ],
)
def test_an_empty_list_of_a_cluster_scoped_kind_says_that_there_are_none(
    kind: str, version: str
) -> None:
    metadata = {"resourceVersion": "7"}
    text = {"kind": f"{kind}List", "apiVersion": version, "metadata": metadata, "items": []}
    events, context = read(json.dumps(text).encode())
    assert [event.kind for event in events] == ["list.observed"]
    assert lists(events)[kind].namespaces == ()
    assert not context.skipped


def test_an_empty_list_of_a_namespaced_kind_says_nothing() -> None:
    events, context = read(compact(listed()))
    assert events == []
    assert context.skipped == {"empty list that does not say of which namespaces": 1}
    events, _ = read(compact({**listed(kind="NodeList"), "items": None}))
    assert lists(events)["Node"].uids == ()


def test_single_objects_and_several_documents_are_read() -> None:
    one = (
        compact(pod("a", 1))
        + json.dumps(pod("b", 2), indent=4).encode()
        + b"\n\n"
        + compact(pod("c", 3))
    )
    events, _ = read(one)
    assert [event.reference.name for event in events] == ["a", "b", "c"]
    assert {event.kind for event in events} == {"pod.observed"}
    assert events[2].line == one[: one.index(b'"c"')].count(b"\n") + 1


def test_a_bare_array_of_objects_is_an_excerpt() -> None:
    events, _ = read(compact([pod("a", 1), pod("b", 2)]))
    assert [event.kind for event in events] == ["pod.observed", "pod.observed"]


def test_kinds_that_nobody_knows_are_kept() -> None:
    thing = {**pod("t", 7), "kind": "Gadget", "apiVersion": "example.org/v9", "spec": "free"}
    events, _ = read(compact(thing))
    assert events[0].kind == "object.observed"
    assert events[0].reference.group == "example.org"


def test_the_content_of_a_secret_stays_out() -> None:
    secret = {**pod("s", 7), "kind": "Secret", "data": {"key": "aGVsbG8="}}
    del secret["spec"], secret["status"]
    events, _ = read(compact(secret))
    assert b"aGVsbG8" not in events[0].payload


def test_a_list_that_is_cut_off_is_refused() -> None:
    text = recorded("list-all.json.gz")
    for end in (len(text) // 2, len(text) - 3):
        with pytest.raises(InputTruncated) as fault:
            read(text[:end])
        assert "--skip-malformed" in fault.value.now
    events, context = read(text[:-3], skip_malformed=True)
    assert (events, context.skipped) == ([], {"malformed": 1})


def test_a_long_list_on_one_line_is_read_item_by_item() -> None:
    items = [pod(f"p{n}", n + 1, annotations={"pad": "x" * 500}) for n in range(3000)]
    events, _ = read(compact(listed(*items)))
    assert len(events) == 3001
    assert len(lists(events)["Pod"].uids) == 3000


def test_a_broken_document_is_passed_over_to_the_next() -> None:
    broken = b'{"apiVersion":"v1","resourceVersion": oops}\n'
    data = compact(pod("a", 1)) + b"\n" + broken + compact(pod("b", 2)) + b"\n"
    with pytest.raises(EventMalformed) as fault:
        read(data)
    assert fault.value.where == "list.json:2"
    events, context = read(data, skip_malformed=True)
    assert [event.reference.name for event in events] == ["a", "b"]
    assert context.skipped == {"malformed": 1}


@pytest.mark.parametrize(
    "before",
    [
        {"action": "Binding", "apiVersion": "events.k8s.io/v1", "kind": "Event"},
        {"apiVersion": "v1", "count": 3, "kind": "Event"},
        {"allowVolumeExpansion": True, "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"},
    ],
)
@pytest.mark.parametrize("form", ["json", "one line", "yaml"])
@pytest.mark.parametrize("neat", [False, True])
def test_a_single_object_is_recognised_whatever_its_first_key(
    before: dict[str, Any], form: str, *, neat: bool
) -> None:
    if neat and before["kind"] != "Event":
        return  # As a file that someone wrote to be applied.
    own = {"name": "x", "namespace": "ns", "uid": "u", "resourceVersion": "7"}
    kept = {name: own[name] for name in ("name", "namespace")} if neat else own
    value = {**before, "metadata": kept, "reason": "Scheduled"}
    text = {
        "json": json.dumps(value, indent=4),
        "one line": json.dumps(value),
        "yaml": yaml.safe_dump(value),
    }[form].encode()
    found = recognise(text, "x")
    assert found is not None
    events = list(found.events(io.BytesIO(text), Context(source="x")))
    assert [event.reference.kind for event in events] == [before["kind"]]

"""Lines that are read without building their objects say the same as in the plain way."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters import compact, initial_end, pod, recorded, watched
from plinian.engine.events import Event
from plinian.engine.ingest.reading.formats import Context
from plinian.engine.ingest.reading.fragments import Fragments
from plinian.engine.ingest.watch.fast_path import UsualLines
from plinian.engine.ingest.watch.stream import FORMAT

SOURCE = "watch.jsonl"
VERBS = {"ADDED": "observed", "MODIFIED": "updated", "DELETED": "deleted"}
TIME = "2026-11-21T01:53:37Z"


def usual(line: bytes) -> Event | None:
    """Return the event of a line if it is read as a usual one."""
    return UsualLines(Context(source=SOURCE), lambda change, *_: (VERBS[change], None)).read(
        line, 1
    )


def plain(data: bytes) -> tuple[list[Event], Context]:
    """Read a stream in the plain way, which is taken if it does not begin with a whole line."""
    context = Context(source=SOURCE, skip_malformed=True)
    events = FORMAT.events(io.BytesIO(b"\n" + data), context)
    return [msgspec.structs.replace(event, line=event.line - 1) for event in events], context


def api_line(**metadata: Any) -> bytes:
    return watched(("ADDED", pod("a", 7, **metadata)))


texts = st.text(st.characters(codec="utf-8"), max_size=6)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | st.sampled_from(["7", "007", "", TIME, "Pod", "v1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts | st.sampled_from(["time", "managedFields"]), values, max_size=3)
labels = st.dictionaries(texts, texts, max_size=3)
written = st.lists(
    st.fixed_dictionaries(
        {"manager": texts, "fieldsV1": objects},
        optional={"time": st.sampled_from([TIME, "2026-11-21T01:53:38Z", "yesterday", "é"])},
    ),
    max_size=3,
)
metadata = st.fixed_dictionaries(
    {"name": st.just("a"), "uid": st.just("u"), "resourceVersion": st.sampled_from(["7", "12"])},
    optional={
        "namespace": st.sampled_from(["ml", "x-é"]),
        "generateName": st.just("a-"),
        "generation": st.integers(1, 2**63),
        "creationTimestamp": st.just(TIME),
        "deletionTimestamp": st.just(TIME),
        "deletionGracePeriodSeconds": st.integers(0, 30),
        "labels": labels,
        "annotations": labels,
        "finalizers": st.lists(st.just("f/x"), min_size=1, max_size=2),
        "ownerReferences": st.lists(
            st.fixed_dictionaries(
                {key: st.just("Job") for key in ("apiVersion", "kind", "name", "uid")},
                optional={"controller": st.booleans(), "blockOwnerDeletion": st.booleans()},
            ),
            min_size=1,
            max_size=2,
        ),
        "managedFields": written,
    },
)
watched_objects = st.fixed_dictionaries(
    {"kind": st.sampled_from(["Pod", "Node"]), "apiVersion": st.just("v1"), "metadata": metadata},
    optional={"spec": objects, "status": objects},
)
lines = st.fixed_dictionaries(
    {"type": st.sampled_from(["ADDED", "MODIFIED", "DELETED"]), "object": watched_objects}
)
fields = st.sampled_from(
    [
        *["kind", "apiVersion", "metadata", "spec", "status", "type", "object"],
        *["name", "uid", "namespace", "resourceVersion", "generation", "generateName", "labels"],
        *["annotations", "finalizers", "ownerReferences", "managedFields", "time", "selfLink"],
    ]
)


def written_out(value: Any, draw: st.DrawFn, inside: str = "") -> str:
    """Write JSON as nobody's server does: keys repeated and added, white space, escapes."""

    def odd() -> bool:
        return draw(st.integers(0, 60)) == 0

    if inside == "managedFields":  # Not kept; the plain way looks at their keys now and then.
        return json.dumps(value)
    if odd():
        return json.dumps(draw(values))
    if isinstance(value, dict):
        pairs = list(value.items())
        if odd():
            pairs.insert(0, (draw(fields), draw(values | st.sampled_from([*value.values(), ""]))))
        if odd():
            pairs += pairs[:1]
        if odd():
            pairs = draw(st.permutations(pairs))
        inner = [f"{json.dumps(key)}:{written_out(item, draw, key)}" for key, item in pairs]
        return "{" + ", "[: 2 if odd() else 1].join(inner) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written_out(item, draw) for item in value) + "]"
    return json.dumps(value, ensure_ascii=odd())


@st.composite
def odd_lines(draw: st.DrawFn) -> bytes:
    """Give lines that differ here and there from what an API server writes."""
    return written_out(draw(lines), draw).encode() + draw(st.sampled_from([b"\n", b"", b" \n"]))


@given(odd_lines())
def test_what_is_read_as_usual_is_what_the_plain_way_reads(line: bytes) -> None:
    event = usual(line)
    events, context = plain(line)
    if event is not None:
        assert events == [event]
        assert not context.skipped


@given(lines)
def test_what_an_api_server_writes_is_usual(line: dict[str, Any]) -> None:
    document = line["object"]  # An API server has filled in what was left out.
    document["metadata"].setdefault("namespace", "ml")
    document.setdefault("status", {}).update(phase="Pending", allocatable={"cpu": "1"})
    event = usual(msgspec.json.encode(line) + b"\n")
    assert event is not None
    document["metadata"].pop("managedFields", None)
    assert json.loads(event.payload) == document


@given(values)
def test_any_json_value_has_one_canonical_form(value: Any) -> None:
    raw = msgspec.Raw(compact(value))
    fragment = Fragments().of(raw)
    assert (fragment is not None) == isinstance(value, dict)
    if fragment is not None:
        assert fragment.canonical == msgspec.Raw(msgspec.json.encode(value, order="sorted"))


@pytest.mark.parametrize("name", ["watch-nodes.jsonl.gz", "watch-podgroups.jsonl.gz"])
def test_recorded_streams_are_usual_and_say_the_same(name: str) -> None:
    data = recorded(name)
    assert list(FORMAT.events(io.BytesIO(data), Context(source=SOURCE))) == plain(data)[0]
    versions = [line for line in data.splitlines(keepends=True) if b'"BOOKMARK"' not in line]
    assert all(usual(line) for line in versions)


SPEC = b'"spec":{'
UNUSUAL = {
    "a field that is not known": api_line().replace(SPEC, b'"more":1,"spec":{'),
    "a field of metadata that is not known": api_line(more="x"),
    "a key twice": api_line().replace(b'"uid":', b'"uid":"u","uid":'),
    "a key twice in a part": api_line().replace(SPEC, b'"spec":{"x":1,"x":1,'),
    "a part twice": api_line().replace(SPEC, b'"spec":{},"spec":{'),
    "white space": api_line().replace(b",", b", ", 1),
    "a part that is no object": api_line(labels=["x"]),
    "a field that is null": api_line().replace(b'"uid"', b'"generation":null,"uid"'),
    "an empty field": api_line(generateName=""),
    "no name": api_line().replace(b'"name":"a"', b'"name":""'),
    "a revision that is no number": api_line(resourceVersion="seven"),
    "a revision beyond 2^63": api_line(resourceVersion=str(2**63)),
    "a revision of other digits": api_line(resourceVersion="٧"),
    "a kind without a noun": api_line().replace(b'"Pod"', b'"Secret"'),
    "another type of event": api_line().replace(b"ADDED", b"BOOKMARK"),
    "a time that is no text": api_line(managedFields=[{"time": 1}]),
    "bytes that are not UTF-8": api_line().replace(b"busybox", b"busy\xff"),
    "a part nested too deep": api_line().replace(SPEC, SPEC + b'"x":' + b"[" * 3000 + b"]" * 3000),
    "a line that is cut off": api_line()[:-20],
}


@pytest.mark.parametrize("line", UNUSUAL.values(), ids=UNUSUAL)
def test_what_differs_in_the_least_is_left_to_the_plain_way(line: bytes) -> None:
    assert usual(api_line()) is not None
    assert usual(line) is None


def test_escapes_and_white_space_within_a_part_are_usual() -> None:
    line = api_line(labels={"a": "b"}).replace(b'{"a":"b"}', rb'{"a" : "\u0062"}')
    event = usual(line)
    assert event is not None
    assert b'{"a":"b"}' in event.payload


def test_parts_are_forgotten_when_there_are_too_many() -> None:
    fragments = Fragments(held_bytes=20_000)
    for turn in range(2):
        for number in range(100):
            text = compact({"spec": number, "a": turn})
            fragment = fragments.of(msgspec.Raw(text))
            assert fragment is not None
            assert json.loads(bytes(fragment.canonical)) == {"spec": number, "a": turn}
    assert len(fragments) < 50


def test_a_stream_of_unusual_lines_is_read_to_its_end() -> None:
    data = b"".join(
        api_line(uid=f"u{number}", more=number) if number % 3 else api_line(uid=f"u{number}")
        for number in range(200)
    )
    events = list(FORMAT.events(io.BytesIO(data), Context(source=SOURCE)))
    assert events == plain(data)[0]
    assert len(events) == 200


def test_bookmarks_between_usual_lines_do_not_end_the_search_for_more() -> None:
    bookmark = watched(initial_end(9))
    reader = UsualLines(Context(source=SOURCE), lambda change, *_: (VERBS[change], None))
    for _ in range(100):
        assert reader.read(bookmark, 1) is None
        assert reader.read(api_line(), 2) is not None

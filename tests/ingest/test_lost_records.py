"""What was left out is not taken for gone: no list is complete of which a record is missing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest

import plinian
from clusters import compact, initial_end, pod, watched
from plinian.engine.events import Event
from plinian.engine.events.payloads import ListObserved, WatchFollowed
from plinian.engine.ingest.reading import numbered_lines as lines
from plinian.engine.ingest.reading.formats import Context
from plinian.engine.ingest.watch.stream import FORMAT
from plinian.engine.log import Query, open_log
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief.belief import belief_at
from plinian.replay.ingest.ingest_run import IngestOptions, IngestSummary, ingest

BLOCK = (("ADDED", pod("a", 4)), ("ADDED", pod("b", 2)), ("ADDED", pod("c", 3)))
CHANGE = ("MODIFIED", pod("a", 9))
NOT_JSON = b'{"type":"ADDED","object":{"kind":"Pod",,}}\n'
WRONG_UID = watched(("ADDED", pod("b", 2, uid=7)))
LONG = b'{"type":"ADDED","object":"' + b"x" * 4000 + b'"}\n'


@pytest.fixture(autouse=True)
def _short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take lines of 3,000 bytes for too long."""
    monkeypatch.setitem(lines.numbered_lines.__kwdefaults__, "limit", 3000)


def read(data: bytes) -> tuple[list[Event], Context]:
    context = Context(source="watch.jsonl", skip_malformed=True)
    return list(FORMAT.events(io.BytesIO(data), context)), context


def listed(events: list[Event]) -> list[tuple[str, ...]]:
    return [
        msgspec.json.decode(event.payload, type=ListObserved).uids
        for event in events
        if event.kind == "list.observed"
    ]


def begun(context: Context) -> list[str]:
    return [
        msgspec.json.decode(event.payload, type=WatchFollowed).begin
        for _, event in context.spans
        if event.kind == "watch.followed"
    ]


@pytest.mark.parametrize(
    "bad", [NOT_JSON, WRONG_UID, LONG], ids=["no json", "wrong uid", "too long"]
)
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_list_of_which_a_record_was_left_out_is_not_complete(bad: bytes, place: int) -> None:
    data = watched(*BLOCK[:place]) + bad + watched(*BLOCK[place:], initial_end(5), CHANGE)
    events, context = read(data)
    assert listed(events) == []
    assert context.skipped["malformed"] == 1
    assert context.skipped["completeness of a list with a skipped record"] == 1
    assert "marked" not in begun(context)


def test_the_same_goes_for_indented_documents() -> None:
    text = watched(*BLOCK, initial_end(5)).replace(b'{"type"', b'{\n"type"')
    assert listed(read(text)[0]) == [("uid-a", "uid-b", "uid-c")]
    broken = text.replace(b'"uid":"uid-b"', b'"uid":')
    events, context = read(broken)
    assert context.skipped["malformed"] == 1
    assert listed(events) == []


def test_a_list_that_is_told_whole_afterwards_is_complete() -> None:
    gone = {"kind": "Status", "code": 410}
    data = watched(BLOCK[0]) + NOT_JSON + watched(initial_end(5), CHANGE, ("ERROR", gone))
    events, _ = read(data + watched(*BLOCK, initial_end(12)))
    assert listed(events) == [("uid-a", "uid-b", "uid-c")]


def test_what_was_left_out_as_a_stream_began_again_is_missing_too() -> None:
    again = watched(("ADDED", pod("a", 20))) + NOT_JSON + watched(*BLOCK[1:], initial_end(21))
    events, context = read(watched(*BLOCK, initial_end(5), CHANGE) + again)
    assert listed(events) == [("uid-a", "uid-b", "uid-c")]
    assert begun(context).count("marked") == 1


def given(folder: Path, *paths: Path, **options: Any) -> tuple[IngestSummary, list[str]]:
    """Ingest files; return the summary and the kinds of all events."""
    with open_log(folder / "log.db", create=True) as store:
        summary = ingest(store, list(map(str, paths)), IngestOptions(**options))
        kinds = [each.event.kind for each in store.read(Query())]
        follows = [
            msgspec.json.decode(each.event.payload, type=WatchFollowed).begin
            for each in store.read(Query())
            if each.event.kind == "watch.followed"
        ]
    assert "marked" not in follows or "list.observed" in kinds
    return summary, kinds


@pytest.mark.parametrize("cut", [1, 2, 3])
@pytest.mark.parametrize("names", [("watch.0", "watch.1"), ("watch.1", "watch.0")])
def test_a_file_that_was_split_within_its_list_makes_no_list(
    cut: int, names: tuple[str, str], tmp_path: Path
) -> None:
    first, second = (tmp_path / name for name in names)
    first.write_bytes(watched(*BLOCK[:cut]))
    second.write_bytes(watched(*BLOCK[cut:], initial_end(5), CHANGE))
    summary, kinds = given(tmp_path, first, second)
    assert "list.observed" not in kinds
    notes = "\n".join(summary.notes)
    assert f"{first}: it ends within its initial list" in notes
    assert f"may be the rest of the one that begins in {first}" in notes


@pytest.mark.parametrize("cut", [1, 2])
def test_the_rest_of_a_list_whose_begin_is_in_the_log_makes_no_list(
    cut: int, tmp_path: Path
) -> None:
    first, second = tmp_path / "watch.0", tmp_path / "watch.1"
    first.write_bytes(watched(*BLOCK[:cut]))
    second.write_bytes(watched(*BLOCK[cut:], initial_end(5)))
    given(tmp_path, first)
    summary, kinds = given(tmp_path, second)
    assert "list.observed" not in kinds
    assert f"may be the rest of the one that begins in {first}" in "\n".join(summary.notes)
    with plinian.open(tmp_path / "log.db") as log:
        assert len(log.truth().of("", "Pod")) == 3


def test_an_input_of_which_a_part_is_stored_is_no_begin(tmp_path: Path) -> None:
    """An interrupted call stored some objects of one of its two inputs."""
    first, second = tmp_path / "watch.0", tmp_path / "watch.1"
    first.write_bytes(watched(*BLOCK[:1]))
    given(tmp_path, first)
    first.write_bytes(watched(*BLOCK[:1], initial_end(5)))
    second.write_bytes(watched(*BLOCK[1:], initial_end(7)))
    summary, kinds = given(tmp_path, first, second)
    assert kinds.count("list.observed") == 2
    assert not summary.notes


def test_a_list_after_a_change_is_no_rest(tmp_path: Path) -> None:
    first, second = tmp_path / "watch.0", tmp_path / "watch.1"
    first.write_bytes(watched(*BLOCK[:1], CHANGE))
    second.write_bytes(watched(*BLOCK[1:], initial_end(12)))
    given(tmp_path, first)
    _, kinds = given(tmp_path, second)
    assert "list.observed" in kinds


def test_a_change_after_a_list_contradicts_it(tmp_path: Path) -> None:
    """Both parts are in the log, but the second one came first."""
    first, second = tmp_path / "watch.0", tmp_path / "watch.1"
    first.write_bytes(watched(*BLOCK[:1]))
    second.write_bytes(watched(*BLOCK[1:], initial_end(5), CHANGE))
    given(tmp_path, second)
    given(tmp_path, first)
    with plinian.open(tmp_path / "log.db") as log:
        for revision in (5, 8, 9):
            moment = log.moment(f"rv:{revision}")
            names = sorted(one.reference.name for one in log.truth(moment).of("", "Pod"))
            assert names == ["a", "b", "c"]
            held = belief_at(log.store, moment, resolve("v1.12.1"))
            assert sorted(held.stores.of("Pod")) == ["default/a", "default/b", "default/c"]


def test_a_list_that_has_the_objects_of_an_earlier_watch_is_complete(tmp_path: Path) -> None:
    quiet, later = tmp_path / "quiet.jsonl", tmp_path / "later.jsonl"
    quiet.write_bytes(watched(*BLOCK))
    later.write_bytes(watched(BLOCK[0], initial_end(8)))
    _, kinds = given(tmp_path, quiet, later)
    assert "list.observed" in kinds


def test_a_watch_that_ends_within_its_list_is_noted(tmp_path: Path) -> None:
    alone = tmp_path / "watch.jsonl"
    alone.write_bytes(watched(*BLOCK[:2]))
    summary, _ = given(tmp_path, alone)
    assert summary.notes == [
        (
            f"{alone}: it ends within its initial list (2 of kind Pod), before the bookmark that"
            " completes it; if the file was split, join its parts into one file and ingest that"
        )
    ]


@pytest.mark.parametrize("version", ["9" * 5000, "9" * 19, "\u0663", "-1", "1e3"])
def test_a_bookmark_or_list_at_no_revision_is_no_list(version: str, tmp_path: Path) -> None:
    kind, bookmark = initial_end(5)
    bookmark["metadata"]["resourceVersion"] = version
    events, context = read(watched(*BLOCK, (kind, bookmark)))
    assert listed(events) == []
    assert context.skipped["malformed"] == 1
    path = tmp_path / "list.json"
    whole = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": version}}
    path.write_bytes(compact({**whole, "items": [pod("a", 1)]}))
    assert given(tmp_path, path)[0].last_revision == 1

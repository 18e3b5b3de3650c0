"""A watch that is read while it grows: what it covers so far, and that nothing else changes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters import initial_end, pod, watched
from plinian.engine.events import Event
from plinian.engine.events.payloads import WatchFollowed
from plinian.engine.ingest.reading.formats import Context, WatchRequest
from plinian.engine.ingest.watch.grown_spans import joined_spans
from plinian.engine.ingest.watch.stream import FORMAT
from plinian.engine.state.coverage_events import coverage_of
from plinian.engine.state.log_coverage import KnownRevisions

PODS = ("", "Pod")
ASKED = WatchRequest(group="", kind="Pod")

Line = tuple[str, dict[str, Any]]


def bookmark(revision: int) -> Line:
    metadata = {"resourceVersion": str(revision)}
    return "BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}


class Asking(io.BytesIO):
    """A stream that asks for growth before some of its lines."""

    def __init__(
        self, data: bytes, context: Context, before: frozenset[int], times: int = 1
    ) -> None:
        super().__init__(data)
        self._context, self._before, self._line = context, before, 0
        self._times = times

    def readline(self, size: int | None = -1, /) -> bytes:
        if self._line in self._before:
            for _ in range(self._times):
                self._context.grow()
        self._line += 1
        return super().readline(size)


def read(
    lines: list[Line],
    asked: WatchRequest | None = None,
    *,
    grown: frozenset[int] = frozenset(),
    times: int = 1,
) -> tuple[list[Event], list[tuple[int, Event]]]:
    context = Context(source="pods", asked=asked, clock=lambda: 7)
    events = list(FORMAT.events(Asking(watched(*lines), context, grown, times), context))
    return events, context.spans


def spans(placed: list[tuple[int, Event]]) -> list[tuple[str, int, int, bool]]:
    payloads = (msgspec.json.decode(event.payload, type=WatchFollowed) for _, event in placed)
    return [(span.begin, span.since, span.until, span.interrupted) for span in payloads]


def known(events: Iterable[Event]) -> list[KnownRevisions]:
    """Return what is known, without until when: each span that is left says that of itself."""
    return [
        msgspec.structs.replace(span, followed_to=None) for span in coverage_of(events).spans(PODS)
    ]


BEGIN: list[Line] = [("ADDED", pod("a", 9)), ("ADDED", pod("b", 5)), initial_end(10)]
ERROR: Line = ("ERROR", {"kind": "Status", "code": 410})


def test_what_it_covers_so_far_is_left_each_time_that_somebody_asks() -> None:
    lines = [*BEGIN, ("MODIFIED", pod("a", 12)), bookmark(20)]
    _, placed = read(lines, grown=frozenset({3, 4}))
    assert spans(placed) == [
        ("marked", 10, 10, False),
        ("resumed", 10, 12, False),
        ("resumed", 12, 20, False),
    ]
    assert spans(list(joined_spans(placed))) == [("marked", 10, 20, False)]


def test_nothing_is_left_before_the_list_is_whole_or_when_nothing_came() -> None:
    assert spans(read(BEGIN, grown=frozenset({0, 1, 2}))[1]) == [("marked", 10, 10, False)]
    _, placed = read([*BEGIN, bookmark(20)], grown=frozenset({3}))
    _, again = read([*BEGIN, bookmark(20)], grown=frozenset({3}), times=3)
    assert again == placed


def test_a_bookmark_without_a_new_revision_shows_that_nothing_followed() -> None:
    context = Context(source="pods", asked=ASKED, clock=iter(range(100, 900)).__next__)
    stream = Asking(watched(*BEGIN, bookmark(10)), context, frozenset({3}))
    list(FORMAT.events(stream, context))
    times = [
        msgspec.json.decode(event.payload, type=WatchFollowed).until_at
        for _, event in context.spans
    ]
    assert len(times) == 2
    assert times == sorted(times)


def test_a_resumed_watch_continues_what_the_log_covers() -> None:
    asked = msgspec.structs.replace(ASKED, since=20)
    events, placed = read([("ADDED", pod("c", 25)), bookmark(30)], asked)
    assert [event.kind for event in events] == ["pod.created"]
    assert spans(placed) == [("resumed", 20, 30, False)]


def test_an_error_ends_what_grew() -> None:
    _, placed = read([*BEGIN, ERROR], grown=frozenset({3}))
    assert spans(placed) == [("marked", 10, 10, False), ("resumed", 10, 10, True)]
    covered = coverage_of(event for _, event in placed).spans(PODS)
    assert [(span.first, span.last, span.interrupted) for span in covered] == [(10, 10, True)]


@pytest.mark.parametrize("namespaces", [(), ("default",)])
def test_the_client_knows_what_it_asked_for(namespaces: tuple[str, ...]) -> None:
    asked = msgspec.structs.replace(ASKED, namespaces=namespaces)
    events, placed = read([initial_end(10)], asked)
    assert [event.kind for event in events] == ["list.observed"]
    coverage = coverage_of([*events, *(event for _, event in placed)])
    assert coverage.namespaces(PODS) == list(namespaces)
    assert coverage.spans(PODS)[0].first == 10


def _lines() -> Iterator[Line]:
    yield from BEGIN
    for revision in range(11, 24, 3):
        yield "MODIFIED", pod("a", revision)
        yield bookmark(revision + 1)
    yield ERROR
    yield from (("ADDED", pod("a", 40)), ("ADDED", pod("b", 5)), initial_end(41))
    yield "DELETED", pod("b", 50)


@given(st.frozensets(st.integers(0, 20)))
def test_growing_changes_neither_events_nor_what_is_covered(grown: frozenset[int]) -> None:
    lines = list(_lines())
    for asked in (None, ASKED):
        events, placed = read(lines, asked)
        again, pieces = read(lines, asked, grown=grown)
        assert again == events
        whole = known([*events, *(event for _, event in placed)])
        assert known([*again, *(event for _, event in pieces)]) == whole
        assert known([*again, *(event for _, event in joined_spans(pieces))]) == whole

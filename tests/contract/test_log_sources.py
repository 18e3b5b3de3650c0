"""What a log can say of its inputs, and of kinds as a whole; on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import msgspec
from pods import listing, message, pods

from plinian.engine.events import Event, Recorded, Reference, canonical_json
from plinian.engine.events.payloads import ListObserved, WatchFollowed
from plinian.engine.log import LogStore, Query
from plinian.engine.log.store import Checkpoint, FoldWindow
from plinian.replay.moments.read_coverage import dated_lists, read_coverage

POD = ("", "Pod")


def watch(since: int, until: int) -> Event:
    followed = WatchFollowed(group="", listed="Pod", since=since, until=until, begin="marked")
    return Event(
        kind="watch.followed",
        reference=Reference("", "Pod"),
        payload=canonical_json(followed),
        source="watch.jsonl",
    )


def test_what_is_about_a_kind_is_found_among_what_is_about_objects_or_nothing(
    log: LogStore,
) -> None:
    log.append([*pods(5, 6), message("hello"), listing(8, "web-0"), watch(8, 9), watch(8, 20)])
    found = list(log.read(Query(about_kinds=True)))
    assert [one.event.kind for one in found] == [
        "list.observed",
        "watch.followed",
        "watch.followed",
    ]
    (last,) = log.read(Query(about_kinds=True, newest_first=True, limit=1))
    assert last.position == 6
    assert [one.position for one in log.read(Query(about_kinds=True, until=5))] == [4, 5]


def test_a_stretch_that_is_told_twice_is_one_event(log: LogStore) -> None:
    assert len(log.append([watch(8, 9), watch(8, 9), watch(8, 20)]).appended) == 2


def test_coverage_is_what_was_known_by_a_position_and_on_a_branch(log: LogStore) -> None:
    log.append([*pods(5, 6), watch(6, 9), watch(30, 40)])
    log.create_branch("what-if", fork=3)

    def spans(branch: str = "main", known: int | None = None) -> list[tuple[int, int]]:
        found = read_coverage(log, branch=branch, cluster="default", known=known)
        return [(span.first, span.last) for span in found.spans(POD)]

    assert spans() == [(6, 9), (30, 40)]
    assert spans(known=3) == spans("what-if") == [(6, 9)]
    assert spans(known=2) == []


def test_sources_are_counted_by_kind_and_cluster(log: LogStore) -> None:
    west = [msgspec.structs.replace(one, cluster="west", source="west.json") for one in pods(7)]
    log.append([*pods(5, 6), watch(6, 9), *west])
    known = log.last()
    found = {one.source: one for one in log.sources(known=known, cluster="default")}
    assert found["watch.jsonl"].kinds["watch.followed"] == 1
    assert sum(one.events for one in found.values()) == 3
    assert {one.last_revision for one in found.values()} >= {6}
    (other,) = log.sources(known=known, cluster="west")
    assert (other.source, other.events, other.first_revision) == ("west.json", 1, 7)
    assert log.sources(known=0, cluster="default") == []


def test_coverage_and_dated_lists_take_one_pass_over_a_log(log: LogStore) -> None:
    made = ListObserved(group="", listed="Pod", uids=(), exact=False, answered=9_500_000)
    dated = msgspec.structs.replace(listing(8, "web-0"), payload=canonical_json(made))
    log.append([*pods(5, 6), dated, watch(8, 9)])
    passes: list[Query] = []
    counted = cast("LogStore", Counted(log, passes))
    assert read_coverage(counted, branch="main", cluster="default").spans(POD)
    (found,) = dated_lists(counted, branch="main", cluster="default", known=log.last())
    assert (found.position, found.revision) == (3, 8)
    assert len(passes) == 1
    log.append([watch(30, 40)])
    later = read_coverage(counted, branch="main", cluster="default")
    assert len(later.spans(POD)) == 2, "what is kept is of one position"


class Counted:
    """A store that counts its reads."""

    def __init__(self, store: LogStore, passes: list[Query]) -> None:
        self._store, self._passes = store, passes

    def last(self, branch: str) -> int:
        """Return the last position."""
        return self._store.last(branch)

    def nearest_checkpoint(self, window: FoldWindow, version: int) -> Checkpoint | None:
        """Return what is stored."""
        return self._store.nearest_checkpoint(window, version)

    def read(self, query: Query) -> Iterator[Recorded]:
        """Read, and count."""
        self._passes.append(query)
        return self._store.read(query)

"""Lists of kubectl, taken one after the other: what went between them, and where the log ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from pathlib import Path

import pytest
from kubectl_lists import (
    Document,
    audited,
    listed,
    pod_on,
    small_cluster,
    take,
    take_audit,
    without,
)

import plinian
from clusters import initial_end, watched
from plinian import Log
from plinian.engine.kubernetes.units import parse_time
from plinian.replay.histories.diff import Diff
from plinian.replay.render.differences import history_lines, side_lines

FIRST, SECOND = "2026-05-04T10:00:00Z", "2026-05-04T10:10:00Z"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with plinian.open(tmp_path / "a.db", create=True) as opened:
        yield opened


def in_a_row(log: Log, folder: Path, *lists: tuple[Sequence[Document], str]) -> None:
    for number, (items, at) in enumerate(lists):
        take(log, folder / f"{number}.json", items, at)


def gone(found: Diff) -> list[str]:
    return [one.object.name for one in found.removed]


def pods_of(found: Diff) -> dict[str, tuple[int | None, int | None]]:
    return {
        one.name: (one.before and one.before.pods, one.after and one.after.pods)
        for one in found.nodes
    }


def relabelled(items: Sequence[Document]) -> list[Document]:
    """Return a list in which pod ``a`` has another version, and pod ``b`` is gone."""
    return [*without(items, "a", "b"), pod_on("n1", "a", 90, labels={"x": "1"})]


GONE_AND_CHANGED = (relabelled, "b")
ONE_GONE = (lambda items: without(items, "b"), "b")
NEWEST_GONE = (lambda items: without(items, "d"), "d")


@pytest.mark.parametrize("change", [GONE_AND_CHANGED, ONE_GONE, NEWEST_GONE])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("point", ["-10m", FIRST, "rv:44", "2026-05-04T09:00:00Z"])
def test_what_a_later_list_lacks_went_between_the_two_whichever_is_ingested_first(
    log: Log,
    tmp_path: Path,
    change: tuple[Callable[[Sequence[Document]], list[Document]], str],
    order: int,
    point: str,
) -> None:
    lists = [(small_cluster(), FIRST), (change[0](small_cluster()), SECOND)]
    in_a_row(log, tmp_path, *lists[::order])
    found = log.diff(point)
    assert gone(found) == [change[1]]
    node = "n2" if change[1] == "d" else "n1"
    assert pods_of(found) == {node: (2, 1)}, "and no row that no object explains"
    assert [(one.name, one.before, one.after) for one in log.diff(point).queues] != []
    assert {pod.reference.name for pod in log.entries("pods")} == set("abcd") - {change[1]}


def test_the_object_is_there_until_the_list_that_lacks_it_was_asked_for(
    log: Log, tmp_path: Path
) -> None:
    in_a_row(log, tmp_path, (small_cluster(), FIRST), (without(small_cluster(), "b"), SECOND))
    for at, there in (("10:00:30", True), ("10:09:59", True), ("10:10:01", False)):
        point = f"2026-05-04T{at}Z"
        assert ("b" in {pod.reference.name for pod in log.entries("pods", at=point)}) is there, at
        assert ("ml/b" in log.belief(at=point).cache.stores.of("Pod")) is there, at
    (absence,) = [one for one in log.history("pod/ml/b").happenings if "list" in one.kind]
    assert absence.earliest == parse_time(FIRST)
    assert absence.latest == parse_time(SECOND) + 999_999


def test_between_two_lists_of_a_quiet_cluster_not_all_is_known(log: Log, tmp_path: Path) -> None:
    in_a_row(log, tmp_path, (small_cluster(), FIRST), (without(small_cluster(), "b"), SECOND))
    known = {at: not log.not_known("pods", at=at) for at in (FIRST, "2026-05-04T10:05:00Z", "end")}
    assert known == {FIRST: True, "2026-05-04T10:05:00Z": False, "end": True}


def test_lists_at_three_times_show_each_deletion_in_any_order_of_ingestion(tmp_path: Path) -> None:
    items = small_cluster()
    lists = [
        (items, FIRST),
        (without(items, "d"), SECOND),
        (without(items, "d", "a"), "2026-05-04T10:20:00Z"),
    ]
    answers = set()
    for number, some in enumerate(permutations(lists)):
        with plinian.open(tmp_path / f"{number}.db", create=True) as log:
            in_a_row(log, tmp_path, *some)
            points = ("-20m", "-10m", "end")
            names = [
                tuple(sorted(pod.reference.name for pod in log.entries("pods", at=at)))
                for at in points
            ]
            answers.add((tuple(names), *(log.digest(at) for at in points)))
    assert [names for names, *_ in answers] == [(tuple("abcd"), tuple("abc"), tuple("bc"))]


def test_two_lists_without_a_time_and_with_one_bound_show_what_went(tmp_path: Path) -> None:
    lists = [small_cluster(), without(small_cluster(), "b")]
    for number, some in enumerate((lists, lists[::-1])):
        with plinian.open(tmp_path / f"{number}.db", create=True) as log:
            for place, items in enumerate(some):
                take(log, tmp_path / f"{place}.json", items, None)
            assert {pod.reference.name for pod in log.entries("pods")} == set("acd")


def test_totals_are_compared_from_where_all_is_known_that_they_add_up(
    log: Log, tmp_path: Path
) -> None:
    nodes = [one for one in small_cluster() if one["kind"] == "Node"]
    changed = [*without(small_cluster(), "n2"), listed("Node", "n2", 12, labels={"x": "1"})]
    in_a_row(log, tmp_path, (nodes, FIRST), (changed, SECOND))
    for kinds in ((), ("nodes",)):
        found = log.diff(FIRST, kinds=kinds)
        assert pods_of(found) == {}, "the pods were there before, or not: nothing tells"
        assert "Pod" in {one.kind for one in found.begun}


def test_what_a_node_held_is_not_known_if_its_pods_are_never_all_known(
    log: Log, tmp_path: Path
) -> None:
    cluster = [one for one in small_cluster() if one["kind"] != "Pod"]
    in_a_row(log, tmp_path, (cluster, FIRST))
    later = [*without(cluster, "n2"), listed("Node", "n2", 60, labels={"x": "1"})]
    take(log, tmp_path / "late.json", later, SECOND)
    (tmp_path / "watch.jsonl").write_bytes(watched(("MODIFIED", pod_on("n1", "a", 70))))
    log.ingest([str(tmp_path / "watch.jsonl")])
    (row,) = [row for row in log.diff(FIRST).nodes if row.name == "n1"]
    assert (row.before, row.first_seen) == (None, True)


READ_LATER = audited("get", "pods", "a", "2026-05-04T10:30:00Z")


def read_on(log: Log, folder: Path) -> None:
    take_audit(log, folder / "audit.log", [READ_LATER])


def logged_on(log: Log, folder: Path) -> None:
    opened = (
        "I0504 10:30:00.000000   22582 session.go:211] Open Session "
        "12181329-33bc-4588-9f56-965a8b92eb49 with <52> Job and <7> Queues\n"
    )
    (folder / "vc-scheduler.log").write_text(opened)
    log.ingest([str(folder / "vc-scheduler.log")], year=2026)


def listed_again(log: Log, folder: Path) -> None:
    take(log, folder / "again.json", small_cluster(), "2026-05-04T10:30:00Z")


def watched_on(log: Log, folder: Path) -> None:
    lines = [("ADDED", pod_on("n1", name, 50)) for name in "ab"]
    bookmark = {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "51"}}
    text = watched(*lines, initial_end(51), ("BOOKMARK", bookmark))
    (folder / "watch-pods.jsonl").write_bytes(text)
    begin = parse_time(FIRST) // 1_000_000
    received = "".join(f"{begin + after}.0\n" for after in (0, 0, 0, 1800))
    (folder / "watch-pods.recv").write_text(received)
    log.ingest([str(folder / "watch-pods.jsonl")])


@pytest.mark.parametrize("goes_on", [read_on, logged_on, listed_again, watched_on])
def test_the_log_ends_when_an_input_last_vouches_for_it(
    log: Log, tmp_path: Path, goes_on: Callable[[Log, Path], None]
) -> None:
    take(log, tmp_path / "list.json", small_cluster(), FIRST)
    goes_on(log, tmp_path)
    end = log.clock().last()
    assert end is not None
    assert 0 <= end - parse_time("2026-05-04T10:30:00Z") < 1_000_000
    assert log.truth("end").time == end, "ages are counted from there"
    whole = end - (999_999 if end % 1_000_000 == 999_999 else 0)
    assert log.moment("-10m").time == whole - 600_000_000, (
        "a list's second is meant as it is written"
    )


def test_what_was_listed_long_before_the_end_is_not_said_to_be_known_there(
    log: Log, tmp_path: Path
) -> None:
    take(log, tmp_path / "list.json", small_cluster(), FIRST)
    assert not log.not_known("pods")
    take_audit(log, tmp_path / "audit.log", [READ_LATER])
    (unknown,) = log.not_known("pods")
    assert "not known after rv:44" in unknown.reason


def test_a_change_between_two_lists_has_the_times_of_both_and_no_middle(
    log: Log, tmp_path: Path
) -> None:
    items = small_cluster()
    in_a_row(log, tmp_path, (items, FIRST), (relabelled(items), SECOND))
    bounds = "2026-05-04T10:00:00Z..10:10:00Z"
    past = log.history("pod/ml/a")
    last = past.happenings[-1]
    assert (last.earliest, last.latest) == (parse_time(FIRST), parse_time(SECOND) + 999_999)
    lines = "".join(history_lines(past))
    assert f"rv:90  {bounds}  pod.observed" in lines
    sides = "".join(side_lines(log.diff("rv:44", "rv:90")))
    assert f"to    rv:90  ({bounds})" in sides
    (unknown,) = {one.reason for one in past.not_known}
    assert f"rv:90 ({bounds})" in unknown
    part = plinian.document(log.blame("pod/ml/a", "metadata.labels.x"))["last"]
    assert part["time"] == bounds
    assert (part["earliest"], part["latest"]) == (FIRST, "2026-05-04T10:10:00.999999Z")


def test_between_two_lists_that_show_the_same_an_answer_names_the_second(
    log: Log, tmp_path: Path
) -> None:
    in_a_row(log, tmp_path, (small_cluster(), FIRST), (small_cluster(), SECOND))
    for at, names_it in (("2026-05-04T10:05:00Z", True), (FIRST, False), ("end", False)):
        found = " ".join(one.reason for one in log.not_known(at=at))
        assert (
            "before the list of 2026-05-04T10:10:00Z, which shows the same" in found
        ) == names_it
        assert "no list, watch or full audit log after it" not in found


@pytest.mark.parametrize(("at", "first"), [(FIRST, 90), ("2026-05-04T10:00:00.5Z", 10)])
def test_what_a_list_shows_is_there_at_the_second_of_its_time(
    log: Log, tmp_path: Path, at: str, first: int
) -> None:
    in_a_row(log, tmp_path, (small_cluster(), FIRST), (relabelled(small_cluster()), SECOND))
    unsure = log.moment(at).unsure
    assert unsure is not None
    assert unsure.first == first

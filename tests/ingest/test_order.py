"""One order of all events, whatever the batches, the memory, and the order of the paths."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusters import compact, initial_end, listed, pod, recorded, watched
from plinian.engine.errors import InputError
from plinian.engine.events import Event, Reference
from plinian.engine.ingest.known_by import KnownBy
from plinian.engine.ingest.order import EventOrder, in_order
from plinian.engine.log import Query, open_log
from plinian.replay.ingest.ingest_run import IngestOptions, ingest


def event(
    name: str,
    revision: int | None,
    time: int | None = None,
    kind: str = "pod.updated",
    payload: bytes = b"{}",
) -> Event:
    reference = Reference("", "Pod", "default", name, f"uid-{name}")
    return Event(kind=kind, reference=reference, payload=payload, revision=revision, latest=time)


def names(*sources: Sequence[Event], run_bytes: int = 2**30) -> list[str]:
    return [found.reference.name for found in in_order(sources, run_bytes=run_bytes)]


def test_events_come_by_revision() -> None:
    assert names([event("c", 9), event("a", 1)], [event("b", 5)]) == ["a", "b", "c"]


def test_an_event_without_revision_follows_what_its_source_told_before_it() -> None:
    audit = [event("write", 5, 100), event("bound", None, 120), event("next", 9, 130)]
    assert names(audit, [event("other", 6, 90)]) == ["write", "bound", "other", "next"]


def test_a_source_without_revisions_is_laid_alongside_by_time() -> None:
    log = [event("opened", None, 105), event("closed", None, 125)]
    watch = [event("a", 1, 100), event("b", 2, 110), event("c", 3, 120), event("d", 4, 130)]
    assert names(log, watch) == ["a", "opened", "b", "c", "closed", "d"]
    assert names(log) == ["opened", "closed"]


def test_a_late_list_of_old_objects_does_not_move_lines_ahead() -> None:
    """The list saw revision 1 only at 140, but revision 3 shows that it existed at 110."""
    log = [event("at-105", None, 105), event("at-115", None, 115), event("at-125", None, 125)]
    watch = [event("a", 2, 100), event("b", 3, 110), event("c", 4, 120)]
    late = [event("old", 1, 140, "pod.observed"), event("new", 5, 140, "pod.observed")]
    assert names(log, watch, late) == ["old", "a", "at-105", "b", "at-115", "c", "at-125", "new"]


def test_a_revision_without_a_time_existed_when_a_later_one_was_seen() -> None:
    log = [event("early", None, 90), event("line", None, 105)]
    untimed = [event("x", 1), event("y", 3), event("z", 9)]
    assert names(log, untimed, [event("b", 3, 100)]) == ["early", "x", "b", "y", "z", "line"]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.booleans()), max_size=40))
def test_a_revision_existed_by_the_earliest_time_of_it_and_of_those_after_it(
    seen: list[tuple[int, int, bool]],
) -> None:
    known_by = KnownBy()
    for revision, time, begins in seen:
        if begins:
            known_by.begin_source()
        known_by.add(revision, time)
    known_by.close()
    for asked in range(32):
        times = [time for revision, time, _ in seen if revision >= asked]
        assert known_by.time(asked) == min(times, default=None)


def test_of_one_version_that_comes_first_which_knows_its_time() -> None:
    assert names([event("kubectl", 5)], [event("api", 5, 100)]) == ["api", "kubectl"]


def test_of_one_version_that_comes_first_which_knows_how_it_came_to_be() -> None:
    seen = event("listed", 5, 100, "pod.observed")
    assert names([seen], [event("created", 5, 100, "pod.created")]) == ["created", "listed"]


def test_a_list_comes_after_the_objects_in_it_and_an_exact_one_before_a_lower_bound() -> None:
    bound = event("bound", 5, None, "list.observed", b'{"exact":false}')
    exact = event("exact", 5, None, "list.observed")
    version = event("version", 5, None, "pod.observed")
    assert names([bound], [exact], [version]) == ["version", "exact", "bound"]


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.none() | st.integers(0, 20),
                st.none() | st.integers(0, 50),
                st.sampled_from(["pod.updated", "pod.observed", "list.observed"]),
            ),
            max_size=30,
        ),
        max_size=4,
    ),
    st.integers(1, 40_000),
)
def test_memory_that_is_short_changes_nothing_in_the_order(
    told: list[list[tuple[int | None, int | None, str]]], run_bytes: int
) -> None:
    sources = [
        [event(f"{s}-{n}", revision, time, kind) for n, (revision, time, kind) in enumerate(source)]
        for s, source in enumerate(told)
    ]
    in_memory = list(in_order(sources))
    assert list(in_order(sources, run_bytes=run_bytes)) == in_memory
    assert len(in_memory) == sum(map(len, sources))
    revisions = [found.revision for found in in_memory if found.revision is not None]
    assert revisions == sorted(revisions)


def test_what_is_written_out_is_read_back_whole() -> None:
    full = Event(
        kind="pod.updated",
        reference=Reference("g", "K", "n", "m", "u"),
        payload=b"\x00\xff" * 10_000,
        resource_version="7",
        revision=7,
        earliest=-6,
        latest=-5,
        actor="someone",
        source="s",
        line=3,
        schema=2,
        cluster="c",
    )
    assert list(in_order([[full] * 3], run_bytes=1)) == [full] * 3


def test_a_disk_without_space_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with EventOrder(run_bytes=1) as order, pytest.raises(InputError) as fault:
        order.add(event("a", 1))
    assert "No space left" in fault.value.what
    assert "TMPDIR" in fault.value.now


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("inputs")
    files = {
        "watch-nodes.jsonl": recorded("watch-nodes.jsonl.gz"),
        "kubectl-nodes.json.gz": gzip.compress(recorded("kubectl-watch-nodes.json.gz")),
        "list.json": recorded("list-all.json.gz"),
        "audit.log": recorded("audit-requestresponse.jsonl.gz")[:900_000].rpartition(b"\n")[0],
        "pods.jsonl": watched(("ADDED", pod("a", 1)), initial_end(2), ("MODIFIED", pod("a", 3))),
        "pods.json": compact(listed(pod("a", 1), pod("z", 3))),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [str(folder / name) for name in files]


@pytest.fixture(scope="module")
def in_one_order(inputs: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    found = log_of(tmp_path_factory.mktemp("log") / "one.db", inputs, 1000)
    assert len(found) > 60
    return found


def log_of(place: Path, paths: list[str], batch_size: int) -> list[object]:
    with open_log(place, create=True) as store:
        ingest(store, paths, IngestOptions(batch_size=batch_size))
        return [(found.position, found.event) for found in store.read(Query())]


@settings(max_examples=6)
@given(st.data(), st.sampled_from([3, 50, 10_000]))
def test_positions_are_the_same_whatever_the_order_of_paths_and_the_batches(
    inputs: list[str],
    in_one_order: list[object],
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    batch_size: int,
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    other = log_of(folder / "other.db", data.draw(st.permutations(inputs)), batch_size)
    assert other == in_one_order

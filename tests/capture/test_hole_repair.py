"""What a stream finds of a hole: proven whole, followed back, or lost, and always said."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec
import pytest
from api_store import POD, ApiStore, StoreChange
from hypothesis import given
from hypothesis import strategies as st
from model_api_server import Fault, ModelApiServer
from recorded_streams import StreamRun, recorded_kind, stream_of

from plinian.engine.events.payloads import WatchRepaired
from plinian.engine.state.log_coverage import UnknownCause
from plinian.replay.capture.hole_repair import EpochFell, Repair, Unseen, repaired
from plinian.replay.capture.served_kinds import served_kind

PODS = recorded_kind(POD)
PAIR = ("", "Pod")


class Holed(NamedTuple):
    """What a stream made of a hole. :param begin: the last revision before it."""

    run: StreamRun
    store: ApiStore
    begin: int
    server: ModelApiServer

    @property
    def changes(self) -> list[StoreChange]:
        return list(self.store.after(POD, self.begin))

    def is_known(self, change: StoreChange) -> bool:
        verb = {"ADDED": "created", "MODIFIED": "updated", "DELETED": "deleted"}[change.verb]
        name = change.document["metadata"]["name"]
        return (f"pod.{verb}", name, change.revision) in self.run.versions

    @property
    def report(self) -> WatchRepaired | None:
        """What was said of the repair."""
        said = [event for event in self.run.delivery.aside if event.kind == "watch.repaired"]
        return msgspec.json.decode(said[0].payload, type=WatchRepaired) if said else None


def holed(
    meanwhile: Callable[[ApiStore], object],
    *,
    compacted: bool = False,
    begin: Callable[[ApiStore], object] = lambda store: store,
    page: int = 500,
) -> Holed:
    """Record, let things happen that the watch misses, restart the server, and go on."""
    store = ApiStore()
    for name in "abc":
        store.create(POD, name)
    begin(store)
    server = ModelApiServer(store, page=page)
    stream = stream_of(server, PODS)
    began = store.revision
    steps = iter(["miss", "stop"])

    def idle() -> bool:
        if next(steps, "stop") == "stop":
            stream.stop()
            return False
        meanwhile(store)
        store.elsewhere()
        server.restart()
        if compacted:
            store.compact()
        return False

    server.idle = idle
    stream.run()
    delivery = stream.outbox.take()
    assert delivery is not None
    assert stream.crash is None
    return Holed(StreamRun(stream.state, delivery, None), store, began, server)


def short(store: ApiStore) -> None:
    store.change(POD, "a")
    store.create(POD, "d")
    store.delete(POD, "b")
    store.create(POD, "b")
    store.create(POD, "brief")
    store.change(POD, "brief")
    store.delete(POD, "brief")
    store.change(POD, "a")


def test_a_short_hole_is_proven_whole() -> None:
    found = holed(short)
    assert [change for change in found.changes if not found.is_known(change)] == []
    spans = found.run.coverage.spans(PAIR)
    assert [(span.first, span.last) for span in spans] == [(found.begin, found.store.revision)]
    assert found.run.state.repaired == 1
    assert found.report is None
    assert "watch.interrupted" not in found.run.kinds


@pytest.mark.parametrize("page", [1, 2])
def test_lists_in_pages_show_the_same(page: int) -> None:
    found = holed(short, page=page)
    assert [change for change in found.changes if not found.is_known(change)] == []
    assert len(found.run.coverage.spans(PAIR)) == 1


def test_an_empty_hole_is_proven_empty() -> None:
    found = holed(lambda store: store.elsewhere(5))
    assert found.changes == []
    assert len(found.run.coverage.spans(PAIR)) == 1


def long(store: ApiStore) -> None:
    short(store)
    store.elsewhere(1000)
    store.delete(POD, "c")


def test_in_a_long_hole_each_object_that_differs_is_followed_back() -> None:
    found = holed(long)
    unknown = [change.key[1] for change in found.changes if not found.is_known(change)]
    assert unknown == ["brief"] * 3
    assert found.report is not None
    assert found.report.unseen == Unseen.SHORT_LIVED
    assert (found.report.after, found.report.before) == (found.begin, found.store.revision)
    gap = found.run.coverage.gap(PAIR, found.begin + 1)
    assert gap is not None
    assert gap.why is UnknownCause.HOLE
    assert found.run.coverage.gap(PAIR, found.store.revision) is None
    assert found.run.state.holes == 1


def test_what_was_created_in_a_long_hole_was_created_there() -> None:
    def begun(store: ApiStore) -> None:
        store.create(POD, "d")
        store.elsewhere(1000)

    found = holed(begun)
    assert [change for change in found.changes if not found.is_known(change)] == []


def test_what_etcd_has_compacted_is_lost() -> None:
    found = holed(short, compacted=True)
    assert found.report is not None
    assert found.report.unseen == Unseen.COMPACTED
    assert found.report.versions == 0
    assert found.run.coverage.gap(PAIR, found.begin + 1) is not None
    assert found.run.coverage.gap(PAIR, found.store.revision) is None


def test_a_repair_stops_at_its_bound() -> None:
    def many(store: ApiStore) -> None:
        for _ in range(600):
            store.change(POD, "a")

    found = holed(many)
    assert found.report is not None
    assert found.report.unseen == Unseen.BOUNDED
    assert 450 < found.report.requests <= 500
    assert found.run.coverage.gap(PAIR, found.begin + 1) is not None


def test_each_version_is_asked_for_once() -> None:
    def many(store: ApiStore) -> None:
        for _ in range(480):
            store.change(POD, "a")
        store.elsewhere(1000)
        store.delete(POD, "b")

    found = holed(many)
    assert found.report is not None
    assert found.report.unseen == Unseen.SHORT_LIVED
    assert [change for change in found.changes if not found.is_known(change)] == []
    bisection = (1480).bit_length()
    # Two lists, one request a version, and where b went with its last version.
    assert found.report.requests <= 2 + 480 + bisection + 1


@pytest.mark.parametrize("length", [240, 260, 400, 497])
def test_a_hole_of_middle_length_is_followed_back_as_a_longer_one_is(length: int) -> None:
    """Each revision takes a list, and each change one more request."""

    def some(store: ApiStore) -> None:
        store.elsewhere(length - 200)
        for _ in range(100):
            store.change(POD, "a")
        for _ in range(100):
            store.change(POD, "b")

    found = holed(some)
    assert [change for change in found.changes if not found.is_known(change)] == []


def _repair(store: ApiStore, after: int, most: int = 500, namespace: str = "") -> Repair:
    server = ModelApiServer(store)
    served = served_kind(server, PODS)
    assert served is not None
    server.asked.clear()
    found = repaired(server, served, namespace, after, most=most)
    assert len(server.asked) == found.requests
    return found


def test_the_epoch_of_a_cluster_that_was_restored_falls() -> None:
    store = ApiStore()
    with pytest.raises(EpochFell) as fell:
        _repair(store, store.revision + 9)
    assert (fell.value.before, fell.value.now) == (store.revision + 9, store.revision)


def test_a_hole_of_one_namespace_shows_nothing_of_another() -> None:
    store = ApiStore()
    begin = store.revision
    store.create(POD, "a", "mine")
    store.create(POD, "a", "theirs")
    found = _repair(store, begin, namespace="mine")
    assert len(found.lines) == 1
    assert b'"mine"' in found.lines[0]


@pytest.mark.parametrize("cut", range(0, 900, 150))
def test_a_repair_that_breaks_off_is_made_again(cut: int) -> None:
    store = ApiStore()
    store.create(POD, "a")
    server = ModelApiServer(store)
    stream = stream_of(server, PODS)
    steps = iter([1])

    def idle() -> bool:
        if not next(steps, 0):
            stream.stop()
            return False
        store.change(POD, "a")
        store.create(POD, "z")
        store.elsewhere()
        server.restart()
        # Two watches that expire, a list, and another that breaks off.
        server.faults.extend([None, None, None, Fault(cut=cut)])
        return False

    server.idle = idle
    stream.run()
    assert stream.crash is None
    assert stream.state.revision == store.revision
    assert stream.state.repaired == 1


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["create", "change", "delete", "elsewhere"]), st.sampled_from("abcd")
    ),
    max_size=25,
)


def _walk(store: ApiStore, steps: list[tuple[str, str]]) -> None:
    for verb, name in steps:
        exists = store.found(POD, name) is not None
        if verb == "elsewhere":
            store.elsewhere(7)
        elif verb == "create" and not exists:
            store.create(POD, name)
        elif verb != "create" and exists:
            store.change(POD, name) if verb == "change" else store.delete(POD, name)


@given(STEPS, STEPS, st.integers(2, 60))
def test_what_a_repair_finds_is_true_and_what_it_says_is_missing_is_all_that_is(
    before: list[tuple[str, str]], within: list[tuple[str, str]], most: int
) -> None:
    store = ApiStore()
    _walk(store, before)
    begin = store.revision
    _walk(store, within)
    found = _repair(store, begin, most)
    changes = list(store.after(POD, begin))
    true = {(change.verb, change.uid, change.revision) for change in changes}
    lines = [_told(line) for line in found.lines]
    assert len(set(lines)) == len(lines)
    assert set(lines) <= true
    assert [line[2] for line in lines] == sorted(line[2] for line in lines)
    brief = {change.uid for change in changes if change.verb == "ADDED"} & {
        change.uid for change in changes if change.verb == "DELETED"
    }
    match found.unseen:
        case Unseen.NOTHING:
            assert set(lines) == true
        case Unseen.SHORT_LIVED:
            assert set(lines) == {line for line in true if line[1] not in brief}
        case _:
            assert found.unseen is Unseen.BOUNDED
            assert found.requests >= most - 2


def _told(line: bytes) -> tuple[str, str, int]:
    watched = msgspec.json.decode(line)
    metadata = watched["object"]["metadata"]
    return watched["type"], metadata["uid"], int(metadata["resourceVersion"])

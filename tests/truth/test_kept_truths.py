"""The truths that an open log keeps: few, and with what they have in common only once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import plinian
from plinian.engine.events import Reference
from plinian.engine.state.clock import span_at
from plinian.engine.state.fold import FoldRecord
from plinian.engine.state.truth_fold import Truth
from plinian.replay.moments.moment import Moment
from plinian.replay.truth import log_states as kept_truths
from plinian.replay.truth.log_states import MOST_TRUTHS, KeptTruths
from plinian.replay.truth.truth import truth_at


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the demo's log."""
    place = tmp_path_factory.mktemp("kept") / "demo.db"
    plinian.demo(place).close()
    return place


def _moment(known: int, branch: str = "main") -> Moment:
    return Moment(
        branch=branch, cluster="default", known=known, revision=None, time=None, label=f"@{known}"
    )


class _Made:
    """Makes truths of a number of objects, and notes what it was given."""

    def __init__(self, objects: int = 1) -> None:
        self.objects = objects
        self.moments: list[int] = []
        self.like: list[Truth | None] = []

    def __call__(self, moment: Moment, like: Truth | None) -> Truth:
        self.moments.append(moment.known)
        self.like.append(like)
        reference = Reference("", "Pod", "ml", "w")
        records = [
            FoldRecord(object=number, reference=reference, position=1, key=2, revision=1)
            for number in range(self.objects)
        ]
        return Truth(
            records, when=span_at(0), raw_facts=lambda some: [None] * len(some), fetch=lambda _: {}
        )


def test_the_last_few_are_kept() -> None:
    made = _Made()
    kept = KeptTruths(made)
    for known in [*range(MOST_TRUTHS), MOST_TRUTHS - 1, 0, MOST_TRUTHS, 0, 1]:
        kept.of(_moment(known))
    assert made.moments == [*range(MOST_TRUTHS), MOST_TRUTHS, 1]


def test_fewer_of_a_large_cluster_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_truths, "MOST_OBJECTS", 25)
    made = _Made(objects=10)
    kept = KeptTruths(made)
    for known in (1, 2, 1, 3, 1, 2):
        kept.of(_moment(known))
    assert made.moments == [1, 2, 3, 2]


def test_one_is_kept_however_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_truths, "MOST_OBJECTS", 5)
    made = _Made(objects=10)
    kept = KeptTruths(made)
    assert kept.of(_moment(1)) is kept.of(_moment(1))
    assert kept.of(_moment(2)) is not kept.of(_moment(1))


def test_what_is_forgotten_is_made_again() -> None:
    made = _Made()
    kept = KeptTruths(made)
    kept.of(_moment(1))
    kept.forget()
    kept.of(_moment(1))
    assert made.moments == [1, 1]


def test_only_large_ones_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_truths, "LARGE", 10)
    made = _Made()
    kept = KeptTruths(made)
    kept.of(_moment(1))
    made.objects = 10
    kept.of(_moment(2))
    kept.forget_large()
    kept.of(_moment(1))
    kept.of(_moment(2))
    assert made.moments == [1, 2, 2]


def test_a_truth_is_made_from_the_last_one_of_its_branch() -> None:
    made = _Made()
    kept = KeptTruths(made)
    first = kept.of(_moment(1))
    kept.of(_moment(2, "what-if"))
    kept.of(_moment(3))
    assert made.like == [None, None, first]


def test_a_truth_made_from_another_one_is_the_same(demo: Path) -> None:
    with plinian.open(demo, read_only=True) as log:
        last, like = log.store.last("main"), None
        shared = 0
        for position in range(60, last, last // 12):
            moment = log.moment(f"@{position}")
            alone, found = truth_at(log.store, moment), truth_at(log.store, moment, like=like)
            known = [] if like is None else list(map(id, like.entries()))
            assert found.entries() == alone.entries()
            shared += len({*known} & set(map(id, found.entries())))
            assert found.find("", "Pod", "default", "none") is None
            held = {(one.reference.namespace, one.reference.name) for one in found.of("", "Pod")}
            assert found.names("", "Pod") == held
            for entry in found.entries():
                one = entry.reference
                assert found.find(one.group, one.kind, one.namespace, one.name) is entry
            like = found
        assert shared, "moments have objects in common"


def test_records_stay_usable_when_their_facts_are_dropped(demo: Path) -> None:
    with plinian.open(demo, read_only=True) as log:
        truth = truth_at(log.store, log.moment("end"))
        before = truth.entries()
        again = truth.entries_of(list(truth.records()))
    assert sorted(again, key=lambda one: one.position) == sorted(
        before, key=lambda one: one.position
    )


@pytest.mark.slow
def test_threads_may_share_a_log(demo: Path) -> None:
    with plinian.open(demo, read_only=True) as log:
        points = [f"@{at}" for at in range(100, log.store.last("main"), 150)]
        expected = [log.digest(point) for point in points]
        log.forget()
        found: dict[int, list[str]] = {}

        def ask(number: int) -> None:
            found[number] = [log.digest(point) for point in points]

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == dict.fromkeys(range(4), expected)


def test_objects_looked_for_by_name_are_those_of_the_list(demo: Path) -> None:
    with plinian.open(demo, read_only=True) as log:
        listed = log.truth(log.moment("end")).of("", "Pod")
        assert len(listed) > 20
        fresh = truth_at(log.store, log.moment("end"))
        assert fresh.find("", "Pod", "default", "none") is None
        for entry in listed:
            reference = entry.reference
            assert fresh.find("", "Pod", reference.namespace, reference.name) == entry

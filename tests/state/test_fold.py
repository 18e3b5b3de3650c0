"""The projector of truth: what it builds, and that nothing but the set of events decides it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plinian.engine.events import NO_TIME, Effect, Reference, canonical_json
from plinian.engine.events.payloads import ListObserved
from plinian.engine.state.checkpoint import decode_checkpoint, encode_checkpoint
from plinian.engine.state.clock import Clock, encode_clock
from plinian.engine.state.clock_build import build_clock
from plinian.engine.state.event_columns import NO_ORIGIN, EventColumns, EventTimes
from plinian.engine.state.fold import Fold, FoldRecord, PlacedEvents
from plinian.engine.state.marks import VersionMark
from plinian.replay.moments.log_clock import placed
from plinian.replay.moments.moment import Moment

NONE = -1
_MARKS = {Effect.BOUND: int(VersionMark.BIND), Effect.DELETED: int(VersionMark.DELETE)}


@dataclass
class Events:
    """A few events in columns, with the objects they are about."""

    rows: list[tuple[int, int, int, int]] = field(default_factory=list)
    objects: list[Reference] = field(default_factory=list)
    payloads: dict[int, bytes] = field(default_factory=dict)

    def add(
        self,
        effect: Effect,
        name: str,
        *,
        uid: str = "",
        revision: int = NONE,
        at: int = NO_TIME,
        payload: Any = None,
    ) -> Events:
        reference = Reference("", "Pod", "default", name, uid)
        if reference not in self.objects:
            self.objects.append(reference)
        self.rows.append((int(effect), self.objects.index(reference), revision, at))
        self.payloads[len(self.rows)] = canonical_json(payload or {})
        return self

    def listed(self, *uids: str, revision: int, exact: bool = True) -> Events:
        listing = ListObserved(group="", listed="Pod", uids=tuple(sorted(uids)), exact=exact)
        return self.add(Effect.LISTED, "", revision=revision, payload=listing)

    def columns(self, order: Sequence[int] | None = None) -> EventColumns:
        order = range(len(self.rows)) if order is None else order
        table = np.array([self.rows[i] for i in order], np.int64).reshape(-1, 4)
        return EventColumns(
            positions=np.array([i + 1 for i in order], np.int64),
            effects=table[:, 0],
            objects=table[:, 1],
            revisions=table[:, 2],
            origins=np.full(len(table), NO_ORIGIN, np.int64),
        )

    def clock(self) -> Clock:
        table = np.array(self.rows, np.int64).reshape(-1, 4)
        times = EventTimes(
            earliest=table[:, 3],
            latest=table[:, 3],
            created=np.full(len(table), NO_TIME, np.int64),
            marks=np.array([_MARKS.get(Effect(effect), 0) for effect in table[:, 0]], np.int64),
            sources=np.zeros(len(table), np.int64),
        )
        tables = build_clock(self.columns(), times, self.references)
        blocks = {(part, n): data for part, n, data in encode_clock(tables, len(table))}
        return Clock(lambda part, number: blocks[part, number])

    def placed(
        self, until: int | None = None, time: int | None = None, after: int = NONE
    ) -> PlacedEvents:
        moment = Moment(
            branch="main",
            cluster="default",
            known=len(self.rows),
            revision=until,
            time=time,
            label="",
        )
        return placed(self.clock(), moment, after=after, until=until)

    def references(self, numbers: Sequence[int]) -> Mapping[int, Reference]:
        return {number: self.objects[number] for number in numbers}

    def payload(self, position: int) -> bytes:
        return self.payloads[position]

    def fold(self) -> Fold:
        return Fold(references=self.references, payload=self.payload)

    def lives_after(self, record: FoldRecord, revision: int | None) -> bool:
        return revision is not None and any(
            number == record.object and later > revision for _, number, later, _ in self.rows
        )

    def seen(self, fold: Fold, until: int | None = None) -> list[tuple[Any, ...]]:
        return sorted(
            (
                record.reference.name,
                record.reference.uid,
                record.revision,
                record.stale,
                record.bound,
            )
            for record in fold.alive(lambda record: self.lives_after(record, until))
        )

    def state(self, until: int | None = None, time: int | None = None) -> list[tuple[Any, ...]]:
        fold = self.fold()
        columns = self.columns()
        if until is not None:
            columns = columns.select(columns.revisions <= until)
        fold.advance(columns, self.placed(until, time))
        return self.seen(fold, until)

    def names(self, until: int | None = None, time: int | None = None) -> list[str]:
        return [name for name, *_ in self.state(until, time)]


def version(name: str, uid: str, revision: int, at: int = NO_TIME) -> Events:
    return Events().add(Effect.VERSION, name, uid=uid, revision=revision, at=at)


def test_the_last_version_by_revision_counts_not_the_last_learned() -> None:
    window = version("a", "u1", 20).add(Effect.VERSION, "a", uid="u1", revision=10)
    assert window.state() == [("a", "u1", 20, False, 0)]
    assert window.state(until=15) == [("a", "u1", 10, False, 0)]


def test_a_deleted_object_is_gone_from_its_revision_on() -> None:
    window = version("a", "u1", 10).add(Effect.DELETED, "a", uid="u1", revision=20)
    assert window.names(until=19) == ["a"]
    assert window.names(until=20) == []


def test_a_deletion_without_revision_comes_before_what_was_seen_later() -> None:
    window = version("a", "u1", 10, at=100).add(Effect.DELETED, "a", uid="u1", at=150)
    window.add(Effect.VERSION, "b", uid="u2", revision=20, at=140)
    window.add(Effect.VERSION, "b", uid="u2", revision=30, at=160)
    assert window.names(until=20) == ["a", "b"]
    assert window.names(until=30) == ["b"]
    assert window.names() == ["b"]


def test_a_time_includes_what_has_no_revision_up_to_it() -> None:
    window = version("a", "u1", 10, at=100).add(Effect.DELETED, "a", uid="u1", at=150)
    window.add(Effect.VERSION, "b", uid="u2", revision=20, at=200)
    assert window.names(until=19, time=149) == ["a"]
    assert window.names(until=19, time=150) == []


def test_a_deletion_that_names_no_uid_takes_the_object_of_that_time() -> None:
    window = version("a", "old", 10, at=100).add(Effect.DELETED, "a", at=150)
    window.add(Effect.VERSION, "a", uid="new", revision=20, at=200)
    assert window.state() == [("a", "new", 20, False, 0)]
    assert window.state(until=10, time=150) == []


def test_a_younger_object_of_the_same_name_replaces_the_older() -> None:
    window = version("a", "old", 10).add(Effect.VERSION, "a", uid="new", revision=20)
    assert window.state() == [("a", "new", 20, False, 0)]
    window.add(Effect.DELETED, "a", uid="new", revision=30)
    assert window.state() == []


def test_a_binding_counts_until_a_version_follows() -> None:
    window = version("a", "u1", 10, at=100).add(Effect.BOUND, "a", uid="u1", at=150)
    assert window.state() == [("a", "u1", 10, False, 2)]
    window.add(Effect.VERSION, "a", uid="u1", revision=20, at=200)
    assert window.state() == [("a", "u1", 20, False, 0)]


def test_a_write_of_unknown_result_makes_the_object_stale() -> None:
    window = version("a", "u1", 10, at=100).add(Effect.TOUCHED, "a", uid="u1", at=150)
    assert window.state() == [("a", "u1", 10, True, 0)]


def test_a_write_that_made_a_known_version_leaves_nothing_stale() -> None:
    window = version("a", "u1", 10).add(Effect.TOUCHED, "a", uid="u1", revision=10)
    assert window.state() == [("a", "u1", 10, False, 0)]
    window.add(Effect.TOUCHED, "a", uid="u1", revision=20)
    assert window.state() == [("a", "u1", 10, True, 0)], "nobody saw version 20"


def test_an_exact_list_tells_what_went() -> None:
    window = version("a", "u1", 10).add(Effect.VERSION, "b", uid="u2", revision=11)
    window.listed("u2", revision=50)
    assert window.names() == ["b"]
    assert window.names(until=49) == ["a", "b"]


def test_a_later_version_contradicts_an_exact_list() -> None:
    """The first part of an initial list was ingested before, and the second part ends it."""
    window = version("a", "u1", 10).add(Effect.VERSION, "c", uid="u3", revision=12)
    window.listed("u3", revision=30).add(Effect.VERSION, "a", uid="u1", revision=31)
    assert window.names(until=30) == ["a", "c"]
    assert window.names(until=31) == ["a", "c"]
    assert window.names() == ["a", "c"]
    window.listed("u3", revision=40)
    assert window.names() == ["c"], "no version after the second list contradicts it"
    window.add(Effect.DELETED, "c", uid="u3", revision=50)
    assert window.names() == []


def test_a_list_of_unknown_revision_is_compared_with_the_one_before() -> None:
    window = version("a", "u1", 10).add(Effect.VERSION, "b", uid="u2", revision=11)
    window.add(Effect.VERSION, "c", uid="u3", revision=12)
    window.listed("u1", "u2", revision=11, exact=False)
    window.add(Effect.VERSION, "b", uid="u2", revision=30).listed("u2", revision=30, exact=False)
    assert window.names() == ["b", "c"], "c was in neither list: the lists may be excerpts"


def test_a_doomed_object_lives_until_its_last_version() -> None:
    window = version("a", "u1", 10).add(Effect.VERSION, "a", uid="u1", revision=60)
    window.listed("u1", revision=10, exact=False).listed(revision=20, exact=False)
    assert window.names(until=59) == ["a"]
    assert window.names() == []


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                Effect.VERSION,
                Effect.VERSION,
                Effect.DELETED,
                Effect.BOUND,
                Effect.TOUCHED,
                Effect.LISTED,
                Effect.ATTRIBUTED,
            ]
        ),
        st.integers(0, 3),
        st.integers(0, 2),
        st.booleans(),
        st.integers(0, 40),
    ),
    max_size=30,
)


def events_in_columns(events: list[tuple[Effect, int, int, bool, int]]) -> Events:
    """Return random events; revisions are their order, clocks may stand still or jump."""
    window = Events()
    life: dict[int, int] = {}
    for revision, (effect, name, _, revised, clock) in enumerate(events, 1):
        uid = f"{name}-{life.setdefault(name, 0)}"
        if effect == Effect.LISTED:
            held = [f"{other}-{life.get(other, 0)}" for other in range(name)]
            window.listed(*held, revision=revision, exact=revised)
            continue
        strong = effect in (Effect.VERSION, Effect.ATTRIBUTED)
        window.add(
            effect,
            f"n{name}",
            uid=uid if strong or clock % 3 else "",
            revision=revision
            if strong or (revised and effect == Effect.DELETED and clock % 3)
            else NONE,
            at=clock if clock % 4 else NO_TIME,
            payload={"said": revision},
        )
        if effect == Effect.DELETED:
            life[name] += 1
    return window


@settings(max_examples=300)
@given(EVENTS, st.randoms(use_true_random=False))
def test_the_order_of_learning_does_not_matter(events: Any, random: Any) -> None:
    window = events_in_columns(events)
    order = list(range(len(window.rows)))
    random.shuffle(order)
    fold = window.fold()
    fold.advance(window.columns(order), window.placed())
    assert window.seen(fold) == window.state()


@settings(max_examples=500)
@given(EVENTS, st.integers(0, 30), st.integers(0, 30))
def test_a_fold_from_any_checkpoint_equals_the_fold_from_zero(
    events: Any, cut: int, until: int
) -> None:
    window = events_in_columns(events)
    cut, end = sorted((cut, until))
    columns = window.columns()
    fold = window.fold()
    first = columns.select(columns.revisions <= cut)
    fold.advance(first, window.placed(cut))
    for record in fold.records.values():
        record.fact = b"x"
    fold, mark = decode_checkpoint(
        encode_checkpoint(fold, window.clock().mark(cut * 2)),
        references=window.references,
        payload=window.payload,
    )
    assert mark == window.clock().mark(cut * 2)
    within = (columns.revisions > cut) & (columns.revisions <= end)
    rest = columns.select(within | (columns.revisions < 0))
    fold.advance(rest, window.placed(end, after=cut))
    assert window.seen(fold, end) == window.state(end)


def test_a_checkpoint_leaves_to_the_next_window_what_came_after_its_last_clock() -> None:
    window = version("a", "u1", 10, at=100).add(Effect.VERSION, "b", uid="u2", revision=20, at=150)
    window.add(Effect.DELETED, "a", uid="u1", at=150)
    window.add(Effect.VERSION, "b", uid="u2", revision=30, at=200)
    columns = window.columns()
    fold = window.fold()
    fold.advance(columns.select(columns.revisions <= 20), window.placed(20))
    assert [name for name, *_ in window.seen(fold, 20)] == ["a", "b"]
    later = (columns.revisions > 20) | (columns.revisions < 0)
    fold.advance(columns.select(later), window.placed(30, after=20))
    assert [name for name, *_ in window.seen(fold, 30)] == ["b"]


def test_a_record_survives_a_checkpoint_whole() -> None:
    window = version("a", "u1", 10)
    fold = window.fold()
    fold.advance(window.columns(), window.placed())
    record = fold.records[0]
    record.fact, record.touched, record.bound = b"\x90", 41, 7
    record.doomed = record.absent = True
    again, _ = decode_checkpoint(
        encode_checkpoint(fold, 0),
        references=window.references,
        payload=window.payload,
    )
    assert msgspec.structs.asdict(again.records[0]) == msgspec.structs.asdict(record)

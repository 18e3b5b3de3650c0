"""Requests that were answered without a version, and the versions that they made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from plinian.engine.events import NO_TIME, Effect, Reference
from plinian.engine.state.clock import Clock, TimeSpan, encode_clock
from plinian.engine.state.clock_build import END_KEY, build_clock
from plinian.engine.state.decision_evidence import LoggedDecision
from plinian.engine.state.event_columns import NO_ORIGIN, EventColumns, EventTimes
from plinian.engine.state.marks import VersionMark

SECOND = 1_000_000
START = 1_700_000_000 * SECOND


class Told:
    """Events in columns, told one after the other; times are seconds after the start."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, ...]] = []
        self._objects: list[Reference] = []

    def version(
        self,
        uid: str,
        revision: int,
        mark: VersionMark,
        second: int | None = None,
        *,
        created: int | None = None,
        own: bool = True,
        name: str = "web",
    ) -> Told:
        """Tell a version; ``own``: its write set the stamp, so that it is of that second."""
        low = NO_TIME if second is None else START + second * SECOND
        high = low + SECOND - 1 if own and second is not None else NO_TIME
        effect = Effect.DELETED if mark is VersionMark.DELETE else Effect.VERSION
        made = NO_TIME if created is None else START + created * SECOND
        return self._tell(effect, name, uid, revision, low, high, made, mark)

    def audited(
        self, uid: str, revision: int, mark: VersionMark, asked: float, answered: float
    ) -> Told:
        """Tell a version as the audit log has it: with the times of its request."""
        low, high = (START + round(at * SECOND) for at in (asked, answered))
        marks = mark | VersionMark.AUDITED
        return self._tell(Effect.VERSION, "web", uid, revision, low, high, NO_TIME, marks)

    def request(
        self,
        mark: VersionMark,
        asked: float,
        answered: float,
        *,
        uid: str = "",
        name: str = "web",
        gone: bool = True,
    ) -> Told:
        """Tell a request that was answered without a version; ``gone``: a deletion at once."""
        effect = {VersionMark.BIND: Effect.BOUND, VersionMark.DELETE: Effect.DELETED}.get(
            mark, Effect.TOUCHED
        )
        effect = effect if gone else Effect.TOUCHED
        low, high = (START + round(at * SECOND) for at in (asked, answered))
        marks = mark | VersionMark.AUDITED
        return self._tell(effect, name, uid, -1, low, high, NO_TIME, marks)

    def timed(self, revision: int, mark: VersionMark, low: float, high: float) -> Told:
        """Tell what a later input says of a version that the log has."""
        times = (START + round(at * SECOND) for at in (low, high))
        return self._tell(Effect.TIMED, "", "", revision, *times, NO_TIME, mark)

    def _tell(self, effect: Effect, name: str, uid: str, *rest: int) -> Told:
        reference = Reference("", "Pod", "default", name, uid)
        if reference not in self._objects:
            self._objects.append(reference)
        self._rows.append((int(effect), self._objects.index(reference), *map(int, rest)))
        return self

    def clock(self, decisions: Sequence[LoggedDecision] = ()) -> Clock:
        table = np.array(self._rows, np.int64)
        columns = EventColumns(
            positions=np.arange(1, len(table) + 1),
            effects=table[:, 0],
            objects=table[:, 1],
            revisions=table[:, 2],
            origins=np.full(len(table), NO_ORIGIN, np.int64),
        )
        times = EventTimes(
            earliest=table[:, 3],
            latest=table[:, 4],
            created=table[:, 5],
            marks=table[:, 6],
            sources=np.zeros(len(table), np.int64),
        )
        tables = build_clock(columns, times, self._references, decisions)
        built = encode_clock(tables, len(table))
        blocks = {(part, number): data for part, number, data in built}
        return Clock(lambda part, number: blocks[part, number])

    def _references(self, numbers: Sequence[int]) -> Mapping[int, Reference]:
        return {number: self._objects[number] for number in numbers}


def between(clock: Clock, revision: int) -> tuple[float | None, float | None]:
    (span,) = clock.spans([revision])
    return _seconds(span)


def _seconds(span: TimeSpan) -> Any:
    return tuple(
        None if at is None else (at - START) / SECOND for at in (span.earliest, span.latest)
    )


def made_by(clock: Clock) -> dict[int, int]:
    """Return the positions of versions by those of the requests that made them."""
    positions = list(range(1, 50))
    return {at: made for at, (_, made) in clock.loose_spans(positions).items() if made}


def test_a_binding_is_the_version_in_which_the_node_appears() -> None:
    told = Told().version("u1", 10, VersionMark.CREATED, 1, created=1)
    told.version("u1", 20, VersionMark.UPDATED | VersionMark.BOUND, 5)
    told.version("u1", 30, VersionMark.UPDATED | VersionMark.BOUND, 8)
    clock = told.request(VersionMark.BIND, 5.3, 5.4, uid="u1").clock()
    assert made_by(clock) == {4: 2}
    assert between(clock, 20) == (5.3, 5.4)


@pytest.mark.parametrize("mark", [VersionMark.CREATED, VersionMark.UPDATED])
def test_a_request_made_the_same_version_whichever_input_showed_it_first(mark: VersionMark) -> None:
    """A list has the version without the time of its write; a watch says what happened."""
    request = {VersionMark.CREATED: VersionMark.CREATE, VersionMark.UPDATED: VersionMark.UPDATE}[
        mark
    ]
    seen = Told().version("u1", 20, VersionMark(0), 5, own=False, created=1)
    seen.timed(20, mark, 5, 5.5)
    seen.request(request, 5.3, 5.4)
    watched = Told().version("u1", 20, mark, 5, created=1)
    watched.request(request, 5.3, 5.4)
    for clock, made in ((seen.clock(), {3: 1}), (watched.clock(), {2: 1})):
        assert made_by(clock) == made
        assert between(clock, 20) == (5.3, 5.4)


def test_what_is_told_of_a_revision_that_objects_share_is_of_none_of_them() -> None:
    told = Told().version("u1", 1, VersionMark(0), 5, own=False, created=1)
    told.version("u2", 1, VersionMark(0), 5, own=False, name="other", created=1)
    told.timed(1, VersionMark.UPDATED, 5, 5.5)
    assert made_by(told.request(VersionMark.UPDATE, 5.3, 5.4).clock()) == {}


def test_a_version_with_its_own_audited_write_is_of_no_other_request() -> None:
    """An audit log alone: the version that the binding made is in no record."""
    told = Told().audited("u1", 10, VersionMark.CREATED, 7.13, 7.15)
    told.request(VersionMark.BIND, 7.36, 7.37, uid="u1")
    clock = told.audited("u1", 30, VersionMark.UPDATED | VersionMark.BOUND, 7.68, 7.69).clock()
    assert made_by(clock) == {}
    assert between(clock, 30) == (7.68, 7.69)


def test_a_deletion_without_revision_is_the_deletion_that_the_watch_shows() -> None:
    told = (
        Told()
        .version("u1", 10, VersionMark.CREATED, 1, created=1)
        .version("u1", 20, VersionMark.DELETE)
    )
    clock = told.request(VersionMark.DELETE, 65.0, 65.1).clock()
    assert made_by(clock) == {3: 2}
    assert between(clock, 20) == (65.0, 65.1)


def test_one_of_two_objects_of_a_name_is_chosen_by_time() -> None:
    """Deletions by name: the first was not audited."""
    told = (
        Told()
        .version("u1", 10, VersionMark.CREATED, 1, created=1)
        .version("u1", 20, VersionMark.DELETE)
    )
    told.version("u2", 30, VersionMark.CREATED, 40, created=40).version(
        "u2", 40, VersionMark.DELETE
    )
    clock = told.request(VersionMark.DELETE, 65.0, 65.1).clock()
    assert made_by(clock) == {5: 4}
    assert between(clock, 20)[1] == 40.999999


def test_a_creation_that_no_watch_saw_bounds_what_was_seen_later() -> None:
    told = Told().version("u1", 30, VersionMark(0), 5, created=2, own=False)
    clock = told.request(VersionMark.CREATE, 2.3, 2.4).clock()
    assert made_by(clock) == {}, "the version is of second 5: it is another"
    assert between(clock, 30) == (5.0, None)
    same = Told().version("u1", 30, VersionMark(0), 2, created=2, own=False)
    clock = same.request(VersionMark.CREATE, 2.3, 2.4).clock()
    assert made_by(clock) == {2: 1}
    assert between(clock, 30) == (2.3, 2.4)


def test_a_creation_is_not_the_version_seen_if_another_write_came_in_its_second() -> None:
    told = Told().version("u1", 30, VersionMark(0), 2, created=2, own=False)
    told.request(VersionMark.CREATE, 2.3, 2.4).request(VersionMark.UPDATE, 2.6, 2.7)
    clock = told.clock()
    assert 2 not in made_by(clock)
    assert between(clock, 30)[0] == 2.3


def test_an_update_is_paired_where_there_is_no_choice_and_only_there() -> None:
    told = Told().version("u1", 10, VersionMark.CREATED, 1, created=1)
    told.version("u1", 20, VersionMark.UPDATED, 5).version("u1", 30, VersionMark.UPDATED, 8)
    alone = told.request(VersionMark.UPDATE, 5.3, 5.4, uid="u1")
    clock = alone.clock()
    assert made_by(clock) == {4: 2}
    assert between(clock, 20) == (5.3, 5.4)
    clock = alone.request(VersionMark.UPDATE, 5.6, 5.7, uid="u1").clock()
    assert made_by(clock) == {}
    assert between(clock, 20) == (5.0, 5.999999)


def test_what_no_version_shows_stands_before_the_first_later_one() -> None:
    told = Told().version("u1", 10, VersionMark.CREATED, 1, created=1)
    told.version("u2", 20, VersionMark.CREATED, 9, created=9, name="other")
    clock = told.request(VersionMark.BIND, 5.0, 5.2, uid="u1").clock()
    assert clock.loose(-2, END_KEY).keys.tolist() == [20 * 2 - 1]


def test_a_deletion_never_stands_before_the_last_version_of_its_object() -> None:
    told = Told().version("u1", 10, VersionMark.CREATED, 1, created=1)
    told.version("u2", 20, VersionMark.CREATED, 9, created=9, name="other")
    told.version("u1", 30, VersionMark.UPDATED, None)
    clock = told.request(VersionMark.DELETE, 5.0, 5.2, uid="u1").clock()
    assert clock.loose(-2, END_KEY).keys.tolist() == [END_KEY]


def test_two_clocks_that_put_events_alike_have_one_mark() -> None:
    told = Told().version("u1", 10, VersionMark.CREATED, 1, created=1)
    told.version("u2", 20, VersionMark.CREATED, 9, created=9, name="other")
    one = told.request(VersionMark.BIND, 5.0, 5.2, uid="u1").clock()
    other = told.request(VersionMark.BIND, 30.0, 30.2, uid="u2", name="other").clock()
    assert one.mark(40) == other.mark(40) != 0
    assert one.mark(END_KEY) != other.mark(END_KEY)


def test_what_a_scheduler_logged_bounds_the_version_in_which_the_node_appears() -> None:
    told = Told().version("u1", 10, VersionMark.CREATED, 1, created=1)
    told.version("u1", 20, VersionMark.UPDATED | VersionMark.BOUND, 5)
    told.version("u1", 30, VersionMark.UPDATED | VersionMark.BOUND, 5)
    bound = LoggedDecision(
        "default", "web", VersionMark.BOUND, START + round(5.3 * SECOND), "scheduler.log"
    )
    assert between(told.clock(), 20) == (5.0, 5.999999)
    assert between(told.clock([bound]), 20) == (5.3, 5.999999)
    assert between(told.clock([bound]), 30) == (5.3, 5.999999), "bounds pass on"


def test_deletions_of_two_pods_of_a_name_in_one_second_are_kept_apart() -> None:
    """The first pod's removal and the second's deletion may both be what a request did."""
    told = (
        Told()
        .version("u1", 10, VersionMark.CREATED, 1, created=1)
        .version("u1", 20, VersionMark.ENDING, 5)
    )
    told.version("u1", 30, VersionMark.DELETE).version("u2", 40, VersionMark.CREATED, 6, created=6)
    told.version("u2", 50, VersionMark.ENDING, 6)
    for asked, answered in ((5.1, 5.2), (5.8, 6.1), (6.3, 6.4)):
        told.request(VersionMark.DELETE, asked, answered, gone=False)
    clock = told.clock()
    assert made_by(clock) == {6: 2, 7: 3, 8: 5}
    assert between(clock, 50) == (6.3, 6.4)


def test_as_many_updates_as_versions_are_paired_in_order() -> None:
    told = Told().version("u1", 10, VersionMark.CREATED, 1, created=1)
    told.version("u1", 20, VersionMark.UPDATED, 5).version(
        "u1", 30, VersionMark.UPDATED, 5, own=False
    )
    told.request(VersionMark.UPDATE, 5.2, 5.3, uid="u1").request(
        VersionMark.UPDATE, 5.6, 5.7, uid="u1"
    )
    assert made_by(told.clock()) == {4: 2, 5: 3}
    told.request(VersionMark.UPDATE, 5.8, 5.9, uid="u1")
    assert made_by(told.clock()) == {}, "one of the three changed nothing"


def test_a_request_without_a_uid_is_about_the_only_object_of_its_name() -> None:
    """Requests for one object fit its versions alike, whether or not they name its uid."""
    told = Told().version("u1", 10, VersionMark.CREATED, 1, created=1)
    told.version("u1", 20, VersionMark.UPDATED, 5)
    told.request(VersionMark.UPDATE, 5.1, 5.2, uid="u1").request(VersionMark.UPDATE, 5.6, 5.7)
    assert made_by(told.clock()) == {}, "either of them may have changed nothing"
    told = Told().version("u1", 10, VersionMark.CREATED, 1, created=1)
    told.version("u1", 20, VersionMark.ENDING, 5)
    told.request(VersionMark.EVICT, 5.6, 5.7).request(VersionMark.EVICT, 5.1, 5.2, uid="u1")
    assert made_by(told.clock()) == {4: 2}, "the second eviction changes nothing"
    told = Told().version("u1", 30, VersionMark(0), 2, created=2, own=False)
    told.request(VersionMark.CREATE, 2.3, 2.4).request(VersionMark.UPDATE, 2.6, 2.7, uid="u1")
    assert 2 not in made_by(told.clock()), "the version may be that of the update"


@pytest.mark.parametrize(
    ("shown", "asked", "made"),
    [
        (VersionMark.UPDATED, VersionMark.UPDATE, {}),
        (VersionMark.ENDING, VersionMark.EVICT, {6: 4}),
    ],
)
def test_a_version_has_one_request_where_several_objects_had_the_name(
    shown: VersionMark, asked: VersionMark, made: Mapping[int, int]
) -> None:
    told = Told().version("u1", 10, VersionMark.CREATED, 1, created=1)
    told.version("u1", 20, VersionMark.DELETE)
    told.version("u2", 30, VersionMark.CREATED, 6, created=6).version("u2", 40, shown, 8)
    told.request(asked, 8.2, 8.3).request(asked, 8.5, 8.6, uid="u2")
    assert made_by(told.clock()) == made

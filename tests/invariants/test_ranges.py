"""Invariants of a range: sessions go on, retries end, a field has one writer."""

from __future__ import annotations

from plinian.engine.invariants.runs import LoggedMark, ObjectLife, needless_retries, pauses
from plinian.engine.invariants.writer_invariants import WrittenVersion, contested
from plinian.engine.kubernetes.units import SECOND_US


def marks(*seconds: int) -> list[LoggedMark]:
    return [LoggedMark(second + 1, second * SECOND_US) for second in seconds]


def test_a_minute_without_a_session() -> None:
    assert list(pauses(marks(0, 30, 90), "v1.12.1")) == []
    (found,) = pauses(marks(0, 30, 91), "v1.12.1")
    assert (found.begin.position, found.end.position) == (31, 92)
    assert "61s" in found.violation.message


def test_a_cleanup_that_goes_on_although_the_podgroup_exists() -> None:
    lives = {"ns/g": [ObjectLife(0, None)]}
    (found,) = needless_retries({"ns/g": marks(5, 31, 35, 40)}, lives)
    assert "3 times" in found.violation.message
    assert list(needless_retries({"ns/g": marks(31, 35, 40)}, {"ns/g": [ObjectLife(0, 1)]})) == []
    assert list(needless_retries({"ns/g": marks(5, 10, 15, 20)}, lives)) == []


def write(second: int, actor: str, **fields: str) -> WrittenVersion:
    return WrittenVersion(second, second * SECOND_US, "Queue", "q", "uid", actor, fields)


def test_two_writers_that_take_turns() -> None:
    turns = [write(1, "a", state="x"), write(2, "b", state="y"), write(3, "a", state="x")]
    ((one, violation),) = contested(turns)
    assert (one.position, violation.field) == (3, "state")


def test_a_writer_that_follows_another_one() -> None:
    follows = [write(1, "a", state="x"), write(2, "b", state="y"), write(3, "b", state="x")]
    assert list(contested(follows)) == []
    later = [write(1, "a", state="x"), write(2, "b", state="y"), write(99, "a", state="x")]
    assert list(contested(later)) == []


def test_writers_of_different_fields_do_not_disturb_each_other() -> None:
    turns = [
        write(1, "a", state="x", counts="1"),
        write(2, "b", state="x", counts="2"),
        write(3, "a", state="y", counts="2"),
    ]
    assert list(contested(turns)) == []


def test_a_writer_that_is_not_known_proves_nothing() -> None:
    turns = [write(1, "a", state="x"), write(2, "", state="y"), write(3, "a", state="x")]
    assert list(contested(turns)) == []

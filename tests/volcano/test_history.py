"""The history of releases: complete, in order, and true to cherry-picks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.errors import UsageError
from plinian.engine.volcano.releases import (
    FIRST,
    HARDENED,
    RELEASES,
    Release,
    Row,
    landed,
    parse_release,
)
from plinian.engine.volcano.session.behaviours import Behaviours
from plinian.engine.volcano.session.configuration import UnknownAction
from plinian.engine.volcano.session.history import HISTORY, SUPPORTED, behaviours, record, resolve
from tree import ROOT

FIELDS = {field.name for field in dataclasses.fields(Behaviours)} - {"release"}


def test_releases_are_parsed_and_printed() -> None:
    assert parse_release("v1.12.1") == parse_release("1.12.1") == Release(1, 12, 1)
    assert str(Release(1, 12, 1)) == "v1.12.1"
    assert len(RELEASES) == len(set(RELEASES)) == 28
    assert list(RELEASES) == sorted(RELEASES)


@pytest.mark.parametrize("text", ["", "latest", "v1.12", "v1.13.0-alpha.1", "v1.12.9", "v2.0.0"])
def test_what_is_no_release_is_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_release(text)
    assert "v1." in caught.value.now


def test_a_change_is_in_later_releases_of_the_lines_that_got_it() -> None:
    change = landed("v1.9.1", "v1.10.1", "v1.11.0")
    having = [str(release) for release in RELEASES if change.reached(release)]
    assert having[:4] == ["v1.9.1", "v1.10.1", "v1.10.2", "v1.11.0"]
    assert len(having) == len(RELEASES) - 5


@given(st.sampled_from(RELEASES), st.sampled_from(RELEASES))
def test_a_line_keeps_what_it_has(one: Release, other: Release) -> None:
    for row in HISTORY:
        if one.line == other.line and one <= other and row.change.reached(one):
            assert row.change.reached(other)


def test_every_field_has_a_value_in_every_release() -> None:
    for release in RELEASES:
        made = record(release)
        assert made.release == str(release)
    assert {row.behaviour for row in HISTORY} == FIELDS


def test_every_row_changes_the_record_of_some_release() -> None:
    for row in HISTORY:
        same = [other for other in HISTORY if other.behaviour == row.behaviour]
        without = [other for other in same if other is not row]
        assert any(_value(same, release) != _value(without, release) for release in RELEASES), row


def _value(rows: Sequence[Row], release: Release) -> object:
    """Return the value of the last row that reached a release."""
    reached = [row.value for row in rows if row.change.reached(release)]
    return reached[-1] if reached else None


def test_rows_are_in_the_order_of_the_main_line_and_tell_why() -> None:
    points = [row.change.landed[-1] for row in HISTORY]
    assert points == sorted(points)
    for row in HISTORY:
        landings = row.change.landed
        assert list(landings) == sorted(landings), row
        assert len({point.line for point in landings}) == len(landings), row
        assert row.why.endswith("."), row
        assert row.source, row
    seen = [(row.behaviour, point) for row in HISTORY for point in row.change.landed]
    assert len(seen) == len(set(seen))


def test_rows_name_the_pull_request_that_brought_them() -> None:
    """One plugin came to the main line by a commit that names none."""
    unnamed = [
        (row.behaviour, str(row.change.landed[-1]))
        for row in HISTORY
        if row.pull is None and row.change != FIRST and not row.change.landed[-1].ours
    ]
    assert unnamed == [("plugins", "v1.13.0")]
    assert all(row.pull is None for row in HISTORY if row.change == FIRST)
    assert {row.link for row in HISTORY} > {None, "volcano-sh/volcano#3391"}


def test_sessions_of_all_releases_can_be_run() -> None:
    assert [resolve(str(release)).release for release in SUPPORTED] == list(map(str, RELEASES))
    with pytest.raises(UsageError):
        resolve("v1.7.0")


def test_our_own_release_is_the_newest_one_with_remedies() -> None:
    ours, newest = resolve("hardened"), resolve("v1.15.1")
    assert str(HARDENED) == ours.release == "hardened"
    assert max(RELEASES) == RELEASES[-1] == HARDENED == parse_release("hardened")
    assert [release for release in RELEASES if release.ours] == [HARDENED]
    rows = [row for row in HISTORY if HARDENED in row.change.landed]
    remedies = {row.behaviour: row.value for row in rows}
    assert all(row.change.landed == (HARDENED,) for row in rows)
    assert dataclasses.replace(newest, release="hardened", **remedies) == ours
    assert all(getattr(newest, name) != value for name, value in remedies.items())


def test_each_remedy_names_where_it_is_and_a_test_that_holds_it() -> None:
    for row in HISTORY:
        if HARDENED in row.change.landed:
            code, _, proof = row.source.partition("; ")
            for path in (*code.split(", "), proof):
                assert (ROOT / path).is_file(), row


def test_one_field_may_be_changed() -> None:
    changed = behaviours("v1.12.1", unknown_action=UnknownAction.REJECTS)
    assert changed.unknown_action is UnknownAction.REJECTS
    assert dataclasses.replace(changed, unknown_action=UnknownAction.IGNORED) == resolve("v1.12.1")
    with pytest.raises(TypeError):
        behaviours("v1.12.1", no_such_field=True)


def test_the_record_of_a_release_is_worked_out_once_and_changes_are_made_to_a_copy() -> None:
    plain = resolve("v1.12.1")
    assert resolve("v1.12.1") is plain
    changed = behaviours("v1.12.1", root_queue=not plain.root_queue)
    assert changed.root_queue is not plain.root_queue
    assert resolve("v1.12.1") == plain != changed

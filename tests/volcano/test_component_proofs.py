"""What proves the histories of the cache and the controllers: what releases' own code did.

Each behaviour is looked at in what was recorded of one input, under all releases that were
recorded; a wrong release in a row, or a wrong proof, parts from that.
"""

from __future__ import annotations

from typing import Any

import pytest
from component_views import VIEWS
from recorded_components import Outcome, component_cases, outcome, outcomes

from plinian.engine.volcano.proofs import claims, holds_in, key_of, proof_of, reverted, unproven
from plinian.engine.volcano.proofs.components import PROOFS, RECORDED
from plinian.engine.volcano.releases import Row, parse_release
from plinian.engine.volcano.session.history import resolve
from plinian.engine.volcano.table import (
    TABLE,
    Part,
    cache_behaviours,
    controller_behaviours,
    part_of,
)

COMPONENTS = (Part.CACHE, Part.CONTROLLERS)

PROVEN = [row for part in COMPONENTS for row in TABLE[part] if proof_of(row) is not None]


def _value(behaviour: str, release: str) -> Any:
    """Return what the table says of a release."""
    of = cache_behaviours if part_of(behaviour) is Part.CACHE else controller_behaviours
    return getattr(of(release), behaviour)


def _seen(behaviour: str) -> dict[str, Any]:
    """Return what is seen of a behaviour by release, where something is."""
    view = VIEWS[behaviour]
    by_release = {one.release: view.value(one) for one in outcomes(view.case)}
    return {release: value for release, value in by_release.items() if value is not None}


@pytest.mark.parametrize("behaviour", sorted(VIEWS))
def test_every_release_did_what_the_table_says(behaviour: str) -> None:
    seen = _seen(behaviour)
    assert seen
    assert seen == {release: _value(behaviour, release) for release in seen}


def _of(row: Row) -> str:
    return " ".join(key_of(row))


@pytest.mark.parametrize("row", PROVEN, ids=_of)
def test_a_proof_shows_a_row_and_the_one_before_it(row: Row) -> None:
    proof = proof_of(row)
    assert proof is not None
    view = VIEWS[row.behaviour]
    assert view.case == proof.case
    assert parse_release(proof.release) in holds_in(row)
    assert view.value(outcome(*proof)) == row.value
    if _has_varied(row):
        before = {value for value in _seen(row.behaviour).values() if value == reverted(row)}
        assert before == {reverted(row)}


def _has_varied(row: Row) -> bool:
    """Whether releases of Volcano differ in a behaviour, and not only one of our own."""
    return len([other for other in claims(*COMPONENTS) if other.behaviour == row.behaviour]) > 1


def test_every_proof_is_one_of_a_row() -> None:
    assert PROOFS.keys() == {key_of(row) for row in PROVEN}
    assert {release for _, release in PROOFS.values()} <= set(RECORDED)


def test_nine_of_ten_rows_are_proven() -> None:
    assert len(unproven(*COMPONENTS)) <= len(claims(*COMPONENTS)) / 10


def _all() -> list[Outcome]:
    return [one for case in component_cases() for one in outcomes(case)]


def test_what_was_recorded_is_named() -> None:
    recorded = {one.release for one in _all()}
    assert recorded == set(RECORDED)
    assert list(RECORDED) == sorted(RECORDED, key=parse_release)
    for case in component_cases().values():
        assert case["about"] or case["steps"], case["name"]
        named = [release for of in case["outcomes"] for release in of["releases"]]
        assert len(named) == len(set(named)), case["name"]


def test_every_step_has_an_outcome_up_to_a_crash() -> None:
    for one in _all():
        ended = one.crashed if one.steps else False
        assert len(one.steps) == len(one.given) or ended, (one.case, one.release)


def test_a_late_cleanup_takes_a_new_group_with_it_where_sessions_say_so() -> None:
    lost = {
        one.release: not one.seen("cache").get("jobs") for one in outcomes("cache-1-0-1-narrow")
    }
    assert lost == {release: resolve(release).job_cleanup_removes_recreated_job for release in lost}
    assert set(lost.values()) == {False, True}

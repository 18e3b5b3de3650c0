"""What proves the history: with a row a session decides as recorded, with it reverted otherwise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import groupby

import pytest

from plinian.engine.volcano.proofs import (
    Proof,
    claims,
    holds_in,
    is_claim,
    key_of,
    lack,
    proof_of,
    reverted,
    unproven,
    without,
)
from plinian.engine.volcano.proofs.session import PROOFS, RECORDED
from plinian.engine.volcano.releases import Row, parse_release
from plinian.engine.volcano.session.history import HISTORY, resolve
from plinian.engine.volcano.table import Part
from proving import proving, recording
from tree import ROOT, SHIPPED, files

PROVEN = sorted(
    (proof, *key_of(row), row) for row in HISTORY if (proof := proof_of(row)) is not None
)


def _by_proof() -> Iterator[tuple[Proof, list[Row]]]:
    for proof, of in groupby(PROVEN, key=lambda proven: proven[0]):
        yield proof, [row for *_, row in of]


@pytest.mark.parametrize(
    ("proof", "rows"),
    [pytest.param(proof, rows, id=str(proof)) for proof, rows in _by_proof()],
)
def test_what_was_recorded_depends_on_the_rows_that_it_proves(
    proof: Proof, rows: list[Row]
) -> None:
    recorded = recording(*proof)
    assert recorded.differences(resolve(proof.release)) == []
    for row in rows:
        assert parse_release(proof.release) in holds_in(row), row
        assert recorded.differences(without(row, proof.release)), row


def test_every_proof_is_one_of_a_row() -> None:
    assert PROOFS.keys() <= {key_of(row) for row in HISTORY}
    assert {release for _, release in PROOFS.values()} <= set(RECORDED)


def test_nothing_is_kept_that_proves_nothing() -> None:
    needed = {(proof.case, proof.release) for proof, _ in _by_proof()}
    for name, of in proving().items():
        for release in of.keys() - {"name", "case"}:
            assert (name, release) in needed


def test_nine_of_ten_rows_of_sessions_are_proven() -> None:
    assert len(unproven(Part.SESSION)) <= len(claims(Part.SESSION)) / 10


def test_a_row_of_our_own_release_names_the_test_that_holds_it() -> None:
    for row in HISTORY:
        if not is_claim(row):
            named = [word.rstrip(",;") for word in row.source.split() if word.startswith("tests/")]
            assert named, row
            assert all((ROOT / path).is_file() for path in named), row


def test_an_unproven_row_says_why() -> None:
    for row in unproven():
        assert lack(row)


def test_a_row_is_reverted_to_what_was_before_it() -> None:
    first, second = (row for row in HISTORY if row.behaviour == "root_queue")
    assert (reverted(first), reverted(second)) == (True, False)
    assert without(second, "v1.12.1").root_queue is False
    for row in HISTORY:
        assert reverted(row) != row.value, row


def _asked(wanted: AbstractSet[str]) -> set[str]:
    """Return which attributes of some names shipped code reads, without the table's own."""
    own = ("session", "cache", "controllers", "proofs", "releases")
    return {
        node.attr
        for path in files()
        if path.startswith(SHIPPED) and path.endswith(".py")
        if not path.startswith(tuple(f"engine/volcano/{folder}/" for folder in own))
        for text in ((ROOT / path).read_text("utf-8"),)
        if not wanted.isdisjoint(re.findall(r"\w+", text))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in wanted
    }


def test_every_behaviour_is_asked_for_somewhere() -> None:
    names = {row.behaviour for row in HISTORY}
    assert names - _asked(names) == set()

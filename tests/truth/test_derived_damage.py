"""Damage to what is derived from the log changes no answer, is told, and is mended by a build."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pods import bound, listing, pods
from tampering import Tamper, tampering

from plinian.engine.log import LogStore, open_log
from plinian.replay.logs.log import Log
from plinian.replay.questions.diff import DiffQuestion
from plinian.replay.questions.history import HistoryQuestion
from plinian.replay.tabular.documents import written
from plinian.replay.truth.truth import build_index

BLOCK_ROWS, CHECKPOINT_EVENTS = 8, 16
LAST = 60
MOMENTS = ("@60", "rv:13", "rv:29", "rv:40", "end", "@31", "branch@64")
TABLES = ("checkpoint", "fact_block", "clock_block")


def indexed(store: LogStore) -> None:
    for branch in ("main", "branch"):
        build_index(
            store,
            branch=branch,
            cluster="default",
            block_rows=BLOCK_ROWS,
            checkpoint_events=CHECKPOINT_EVENTS,
        )


def make(place: str) -> None:
    """Make a log with a branch, both with an index of several blocks."""
    with open_log(place, create=True) as store:
        store.append([*pods(*range(1, 25)), bound("web-1", "n1", at=9)])
        store.append([*pods(*range(30, 60)), listing(61, "web-1", "web-2"), *pods(62, 63, 64, 65)])
        store.create_branch("branch", fork=45)
        store.append(pods(*range(70, 90)), branch="branch")
        indexed(store)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make such a log to copy."""
    path = tmp_path_factory.mktemp("undamaged") / "log.db"
    make(str(path))
    return path


@pytest.fixture
def place(log_place: str, file: Path) -> str:
    """Return the place of such a log, which a test may damage."""
    if log_place.startswith("postgresql:"):
        make(log_place)
    else:
        shutil.copyfile(file, log_place)
    return log_place


@pytest.fixture
def tamper(place: str) -> Iterator[Tamper]:
    with tampering(place) as run:
        yield run


def answers(place: str) -> tuple[list[Any], list[str]]:
    """Return what a log answers, and what it remarks besides."""
    remarks: list[str] = []
    found: list[Any] = []
    with open_log(place, read_only=True, remark=remarks.append) as store:
        for moment in MOMENTS:
            log = Log(store, branch=moment.rpartition("@")[0] or "main")
            point = moment.removeprefix("branch")
            digest = log.digest(point)
            entries = [entry.fact for entry in log.entries("pods", at=point)]
            found.append((digest, msgspec.to_builtins(entries)))
        log = Log(store)
        told = HistoryQuestion("pod/web-1", namespace="shop").ask(log)
        found += [msgspec.to_builtins(line, enc_hook=written) for line in told.happenings]
        changed = DiffQuestion("rv:10", "rv:50").ask(log).changed
        found.append(msgspec.to_builtins(changed, enc_hook=written))
        found.append(store.extent(known=LAST, cluster="default"))
    return found, remarks


@pytest.fixture(scope="module")
def of_file(file: Path) -> tuple[list[Any], list[str]]:
    """Return what copies of the file answer; logs on a server have other times of appending."""
    return answers(str(file))


@pytest.fixture
def expected(place: str, of_file: tuple[list[Any], list[str]]) -> list[Any]:
    found, remarks = answers(place) if place.startswith("postgresql:") else of_file
    assert remarks == []
    return found


ONE = {
    "checkpoint": "revision = (SELECT min(revision) FROM checkpoint)",
    "fact_block": "branch_id = 1 AND first = 9",
    "clock_block": "branch_id = 1 AND part = 1",
}


def check(place: str, expected: list[Any], table: str) -> None:
    """Complain unless answers are the same, the damage is told, and a build mends it."""
    with open_log(place) as store:
        (damage,) = store.verify().damaged
    found, remarks = answers(place)
    assert found == expected
    if remarks:  # No moment of these may need a checkpoint that is gone.
        assert all("are damaged and not used" in remark for remark in remarks)
    assert remarks or table == "checkpoint"
    with open_log(place) as store:
        assert len(store.mend_derived()) == 1
        indexed(store)
        assert store.verify().damaged == ()
    assert answers(place) == (expected, [])
    assert "plinian checkpoint build" in damage


@pytest.mark.parametrize("table", TABLES)
def test_a_removed_row(place: str, tamper: Tamper, expected: list[Any], table: str) -> None:
    tamper(f"DELETE FROM {table} WHERE {ONE[table]}")
    check(place, expected, table)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("branch", [1, 2])
def test_the_last_row_or_all_rows_removed(
    place: str, tamper: Tamper, expected: list[Any], table: str, branch: int
) -> None:
    key = {"checkpoint": "revision", "fact_block": "first", "clock_block": "part"}[table]
    newest = f"(SELECT max({key}) FROM {table} WHERE branch_id = ?)"
    gone = tamper(f"SELECT count(*) FROM {table} WHERE branch_id = ?", branch)[0][0]
    if not gone:
        pytest.skip("the branch has none of its own")
    tamper(f"DELETE FROM {table} WHERE branch_id = ? AND {key} = {newest}", branch, branch)
    check(place, expected, table)
    tamper(f"DELETE FROM {table} WHERE branch_id = ?", branch)
    check(place, expected, table)


@pytest.mark.parametrize("table", TABLES)
def test_a_flipped_bit_of_the_data(
    place: str, tamper: Tamper, expected: list[Any], table: str
) -> None:
    data = bytearray(tamper(f"SELECT data FROM {table} WHERE {ONE[table]}")[0][0])
    data[len(data) // 2] ^= 4
    tamper(f"UPDATE {table} SET data = ? WHERE {ONE[table]}", bytes(data))
    check(place, expected, table)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("column", ["data", "hash"])
@pytest.mark.parametrize("value", [0.5, 10**15, "text"])
def test_a_value_of_another_type(
    sqlite_log_path: str, table: str, column: str, value: object
) -> None:
    """A damaged file can hold anything in any column; a server keeps to types."""
    with open_log(sqlite_log_path, create=True) as store:
        store.append(pods(*range(1, 40)))
        store.create_branch("branch")
        indexed(store)
        digest = Log(store).digest()
    with tampering(sqlite_log_path) as run:
        for name in ("seal", table):
            names = {"data": "rows", "hash": "batch"} if name == "seal" else {column: column}
            (old,) = run(f"SELECT {names[column]} FROM {name} LIMIT 1")
            run(f"UPDATE {name} SET {names[column]} = ?", value)
            with open_log(sqlite_log_path) as store:
                assert store.verify().damaged
                assert Log(store).digest() == digest
            run(f"UPDATE {name} SET {names[column]} = ?", old[0])


def test_data_swapped_between_rows(place: str, tamper: Tamper, expected: list[Any]) -> None:
    rows = tamper("SELECT first, hash, data FROM fact_block WHERE branch_id = 1 AND first < 10")
    for (first, _, _), (_, digest, data) in zip(rows, rows[::-1], strict=True):
        tamper(
            "UPDATE fact_block SET hash = ?, data = ? WHERE branch_id = 1 AND first = ?",
            *(digest, data, first),
        )
    check(place, expected, "fact_block")


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("fact_block", "low_revision = low_revision + 900"),
        ("fact_block", "high_revision = 1"),
        ("fact_block", "unrevisioned = NOT unrevisioned"),
        ("fact_block", "last = last + 1"),
        ("fact_block", "first = 10"),
        ("fact_block", "branch_id = 2"),
        ("checkpoint", "revision = revision + 1"),
        ("checkpoint", "known = known - 1"),
        ("clock_block", "known = known + 1"),
        ("clock_block", "number = 1"),
    ],
)
def test_a_changed_column(
    place: str, tamper: Tamper, expected: list[Any], table: str, change: str
) -> None:
    tamper(f"UPDATE {table} SET {change} WHERE {ONE[table]}")
    with open_log(place) as store:
        assert store.verify().damaged
    assert answers(place)[0] == expected
    with open_log(place) as store:
        assert store.mend_derived()
        indexed(store)
    assert answers(place) == (expected, [])


@pytest.mark.parametrize("change", ["rows = batch", "batch = rows", "part = part + 7"])
def test_a_changed_seal(place: str, tamper: Tamper, expected: list[Any], change: str) -> None:
    tamper(f"UPDATE seal SET {change} WHERE branch_id = 1 AND part = 1")
    with open_log(place) as store:
        assert store.verify().damaged or "part" in change
    assert answers(place)[0] == expected


def test_rows_without_a_seal(place: str, tamper: Tamper, expected: list[Any]) -> None:
    tamper("DELETE FROM seal")
    with open_log(place) as store:
        assert len(store.verify().damaged) >= len(TABLES)
    assert answers(place)[0] == expected


def test_building_on_damaged_blocks_makes_them_anew(
    place: str, tamper: Tamper, expected: list[Any]
) -> None:
    """An ingest builds the index too: it must not go on from what is damaged."""
    tamper(f"UPDATE fact_block SET low_revision = 900 WHERE {ONE['fact_block']}")
    tamper(f"UPDATE checkpoint SET known = 1 WHERE {ONE['checkpoint']}")
    with open_log(place) as store:
        store.append(pods(101, 102))
        store.append(pods(103, 104), branch="branch")
        indexed(store)
        assert store.verify().damaged == ()
        with open_log(place) as again:
            digest = Log(again).digest()
        assert digest != expected[0]
        store.drop_derived()
        with open_log(place) as again:
            assert Log(again).digest() == digest


def test_what_was_derived_from_an_end_that_is_gone_is_not_used(place: str, tamper: Tamper) -> None:
    """The end was cut off, and another one appended: positions are the same, events are not."""
    with open_log(place) as store:
        store.drop_derived()
    for table in ("event", "payload_block", "batch", "head"):
        tamper(f"DELETE FROM {table} WHERE branch_id = 2")
    tamper("DELETE FROM branch WHERE id = 2")
    with open_log(place) as store:
        build_index(store, cluster="default", block_rows=8, checkpoint_events=16)
    for table, column in (("event", "position"), ("payload_block", "first"), ("batch", "first")):
        tamper(f"DELETE FROM {table} WHERE {column} > 25")
    tamper(
        "UPDATE head SET (position, batch, hash, recorded_at, revision) ="
        " (SELECT last, number, hash, recorded_at, 24 FROM batch WHERE number = 1)"
    )
    remarks: list[str] = []
    with open_log(place, remark=remarks.append) as store:
        store.append(pods(*range(201, 240)))
        own = Log(store).digest()
        assert remarks
        store.drop_derived()
    with open_log(place) as store:
        assert Log(store).digest() == own

"""Rows that no hash of the chain covers: answers rest on them too, and damage to them is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pods import bound, message, pods
from tampering import Tamper, tampering

from plinian.engine.errors import HeadMissing, LogCorrupt, UsageError
from plinian.engine.log import Query, open_log
from plinian.engine.log.location import parse_location

LAST = 30


@pytest.fixture
def place(log_place: str) -> str:
    """Make a log of thirty events in three batches, with two branches."""
    with open_log(log_place, create=True) as log:
        log.append([*pods(*range(1, 9)), message("nine"), bound("web-1", "n1", at=3)])
        log.append(pods(*range(11, 21)))
        log.append(pods(*range(21, 31)))
        log.create_branch("one", fork=20)
        log.append(pods(41, 42), branch="one")
        log.create_branch("two", parent="one")
    return log_place


@pytest.fixture
def tamper(place: str) -> Iterator[Tamper]:
    with tampering(place) as run:
        yield run


def fault_of(place: str) -> LogCorrupt:
    """Return what verification complains of."""
    with open_log(place) as log, pytest.raises(LogCorrupt) as caught:
        log.verify()
    assert caught.value.now
    return caught.value


def test_an_untouched_log_has_no_damage(place: str) -> None:
    with open_log(place) as log:
        assert log.verify().damaged == ()
        assert log.verify(branch="two").damaged == ()


@pytest.mark.parametrize("branch", ["main", "one", "two"])
def test_a_missing_head_is_never_an_empty_log(place: str, tamper: Tamper, branch: str) -> None:
    tamper("DELETE FROM head WHERE branch_id = (SELECT id FROM branch WHERE name = ?)", branch)
    assert branch in fault_of(place).what
    with open_log(place) as log:
        for ask in (lambda: log.last(branch), log.branches, log.info, log.heads):
            with pytest.raises(LogCorrupt, match="missing in table head"):
                ask()
        with pytest.raises(LogCorrupt):
            log.append(pods(50), branch=branch)


@pytest.mark.parametrize("branch", ["main", "one", "two"])
def test_a_removed_branch_is_found(place: str, tamper: Tamper, branch: str) -> None:
    tamper("DELETE FROM branch WHERE name = ?", branch)
    assert "branch" in fault_of(place).what


def test_a_branch_removed_with_all_its_rows_but_the_last_is_found(
    place: str, tamper: Tamper
) -> None:
    tamper("UPDATE branch SET parent_id = 1, fork = 20 WHERE name = 'two'")
    for table in ("head", "event", "payload_block", "batch"):
        tamper(f"DELETE FROM {table} WHERE branch_id = 2")
    tamper("DELETE FROM branch WHERE id = 2")
    fault_of(place)


@pytest.mark.parametrize("parent", [3, 2, 9])
def test_a_branch_that_is_its_own_past_is_no_endless_way(
    place: str, tamper: Tamper, parent: int
) -> None:
    tamper("UPDATE branch SET parent_id = ? WHERE name = 'one'", parent)
    fault_of(place)
    with open_log(place) as log, pytest.raises(LogCorrupt):
        list(log.read(Query(branch="two")))


@pytest.mark.parametrize(
    ("column", "value"),
    [("position", 20), ("batch", 2), ("hash", bytes(32)), ("position", 0), ("position", 31)],
)
def test_a_head_that_is_not_that_of_the_last_batch_answers_nothing(
    place: str, tamper: Tamper, column: str, value: object
) -> None:
    tamper(f"UPDATE head SET {column} = ? WHERE branch_id = 1", value)
    fault_of(place)
    with open_log(place) as log:
        for ask in (log.last, log.heads):
            with pytest.raises(LogCorrupt, match="head of branch 'main'"):
                ask()


@pytest.mark.parametrize("branch", [1, 2, 3], ids=["main", "a branch", "one without a batch"])
def test_a_changed_time_of_a_head_is_found(place: str, tamper: Tamper, branch: int) -> None:
    tamper("UPDATE head SET recorded_at = recorded_at + 12345678 WHERE branch_id = ?", branch)
    assert "time" in fault_of(place).what


def test_a_revision_that_a_branch_inherits_counts(place: str, tamper: Tamper) -> None:
    tamper("UPDATE head SET revision = 19 WHERE branch_id = 3")
    assert "revision" in fault_of(place).what


def test_a_changed_key_of_an_object_is_found(place: str, tamper: Tamper) -> None:
    tamper("UPDATE object SET key = ? WHERE name = 'web-3'", bytes(20))
    assert fault_of(place).position == 3


def test_an_object_without_events_is_found(place: str, tamper: Tamper) -> None:
    tamper(
        "INSERT INTO object (id, cluster_id, group_id, kind_id, namespace_id, key, name, uid)"
        " SELECT max(id) + 1, 1, min(group_id), min(kind_id), min(namespace_id), ?, 'x', 'y'"
        " FROM object",
        bytes(20),
    )
    assert "object" in fault_of(place).what


def test_a_cluster_without_objects_is_found(place: str, tamper: Tamper) -> None:
    tamper("INSERT INTO cluster (id, name) VALUES (2, 'other')")
    assert "cluster" in fault_of(place).what


@pytest.mark.parametrize("table", ["event", "payload_block", "batch", "head"])
def test_rows_of_no_branch_are_found(place: str, tamper: Tamper, table: str) -> None:
    columns = {
        "event": "effect, schema, position, revision, object_id, kind_id, source_id, line",
        "payload_block": "first, last, codec, sizes, data",
        "batch": "number, first, last, recorded_at, merkle_root, previous, hash, marks",
        "head": "position, revision, batch, recorded_at, hash",
    }[table]
    tamper(
        f"INSERT INTO {table} (branch_id, {columns})"
        f" SELECT 9, {columns} FROM {table} WHERE branch_id = 1 LIMIT 1"
    )
    assert "9" in fault_of(place).what


def test_a_log_without_its_row_is_not_founded_again(place: str, tamper: Tamper) -> None:
    tamper("DELETE FROM log")
    for create in (False, True):
        with pytest.raises(LogCorrupt, match="table log"):
            open_log(place, create=create)


@pytest.mark.parametrize("index", ["event_version", "event_identity", "event_object"])
def test_an_index_that_lost_its_rows_is_found(place: str, tamper: Tamper, index: str) -> None:
    location = parse_location(place)
    if location.database == "sqlite":
        (page,) = tamper("SELECT rootpage FROM sqlite_master WHERE name = ?", index)[0]
        _empty_page(Path(location.path), page, tamper)
    else:
        # What is inserted while an index is not ready is not in it afterwards.
        ready = "UPDATE pg_index SET indisready = ? WHERE indexrelid = ?::regclass"
        tamper(ready, False, index)
        tamper("CREATE TEMP TABLE held AS SELECT * FROM event")
        tamper("DELETE FROM event")
        tamper("INSERT INTO event SELECT * FROM held")
        tamper(ready, True, index)
    assert index in fault_of(place).what


def _empty_page(path: Path, page: int, tamper: Tamper) -> None:
    """Make the only page of a small index one without rows."""
    tamper("PRAGMA wal_checkpoint(TRUNCATE)")
    size = 2048
    empty = bytes([10, 0, 0, 0, 0, size >> 8, size & 255, 0])
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        assert file.read(1) == b"\x0a"  # An index whose rows fit into one page.
        file.seek((page - 1) * size)
        file.write(empty + bytes(size - len(empty)))


def test_a_column_of_another_type_is_found(place: str, tamper: Tamper) -> None:
    """Of a column of another affinity, texts of digits are no more found by what they are."""
    if parse_location(place).database != "sqlite":
        pytest.skip("a server knows the types of its columns elsewhere")
    tamper("PRAGMA writable_schema = ON")
    tamper("UPDATE sqlite_master SET sql = replace(sql, 'name TEXT', 'name UEXT')")
    assert "columns" in fault_of(place).what


def heads_of(place: str) -> dict[str, str]:
    """Return the hash of the end of each branch."""
    with open_log(place) as log:
        return {info.branch: info.hash for info in log.heads()}


def test_heads_are_those_that_verification_comes_to(place: str) -> None:
    with open_log(place) as log:
        found = log.heads()
        assert [(info.branch, info.position, info.batch) for info in found] == [
            ("main", 30, 3),
            ("one", 22, 1),
            ("two", 22, 0),
        ]
        for info in found:
            assert log.verify(branch=info.branch).head == info.hash


def test_a_head_that_was_kept_is_found_again_when_the_log_has_grown(place: str) -> None:
    kept = heads_of(place)
    with open_log(place) as log:
        log.append(pods(51, 52))
        held = log.verify(heads=list(kept.values())).held
        assert [(one.branch, one.position, one.batch, one.later) for one in held] == [
            ("main", 30, 3, 2),
            ("one", 22, 1, 0),
            ("two", 22, 0, 0),
        ]
        assert log.verify(branch="two", heads=[kept["one"].upper()]).held[0].branch == "one"


def test_an_end_that_was_cut_off_cleanly_is_found_by_a_head_kept_elsewhere(
    place: str, tamper: Tamper
) -> None:
    kept = heads_of(place)["main"]
    tamper("DELETE FROM branch WHERE id > 1")
    for table in ("event", "payload_block", "batch", "head"):
        tamper(f"DELETE FROM {table} WHERE branch_id > 1")
    for table, column in (("event", "position"), ("payload_block", "first"), ("batch", "first")):
        tamper(f"DELETE FROM {table} WHERE {column} > 20")
    tamper(
        "UPDATE head SET (position, batch, hash, recorded_at) ="
        " (SELECT last, number, hash, recorded_at FROM batch WHERE number = 2)"
    )
    with open_log(place) as log:
        assert log.verify().events == 20  # Nothing that is left tells of more.
        with pytest.raises(HeadMissing) as caught:
            log.verify(heads=[kept])
    assert caught.value.head == kept


@pytest.mark.parametrize("head", ["", "abc", "zz" * 32, "ab" * 31, "ab" * 33])
def test_what_is_no_hash_is_refused(place: str, head: str) -> None:
    with open_log(place) as log, pytest.raises(UsageError, match="64 hexadecimal digits"):
        log.verify(heads=[head])

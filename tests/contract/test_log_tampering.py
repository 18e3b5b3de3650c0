"""Verification finds every kind of damage, and names the first bad position."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.msgpack import encode as msgpack
from pods import bound, message, pod, pods

from plinian.engine.errors import LogCorrupt, LogError
from plinian.engine.log import Query, open_log
from plinian.engine.log.location import parse_location

Tamper = Callable[..., None]
LAST = 30
WRITTEN_ONCE = ("event", "payload_block", "batch")


@pytest.fixture
def place(log_place: str) -> str:
    """Make a log of thirty events in three batches."""
    with open_log(log_place, create=True) as log:
        log.append([*pods(*range(1, 9)), message("nine"), bound("web-1", "n1", at=3)])
        log.append(pods(*range(11, 21)))
        log.append([*pods(*range(21, 30)), pod(30, "web-2", actor="alice")])
    return log_place


@pytest.fixture
def tamper(place: str) -> Iterator[Tamper]:
    """Run SQL on the log's tables, as somebody who owns the database can."""
    location = parse_location(place)
    if location.database == "sqlite":
        file = sqlite3.connect(location.path, isolation_level=None)
        for table in WRITTEN_ONCE:
            for verb in ("update", "delete"):
                file.execute(f"DROP TRIGGER {table}_refuse_{verb}")
        yield lambda sql, *values: file.execute(sql, values)
        file.close()
        return
    with psycopg.connect(location.conninfo, autocommit=True) as server:
        server.execute(f"SET search_path TO {location.quoted_schema}")
        for table in WRITTEN_ONCE:
            server.execute(f"DROP TRIGGER {table}_refuse_change ON {table}")
        yield lambda sql, *values: server.execute(sql.replace("?", "%s"), values)


def first_bad(place: str) -> int:
    """Return the position that verification names."""
    with open_log(place) as log, pytest.raises(LogCorrupt) as caught:
        log.verify()
    assert caught.value.now
    return caught.value.position


def test_an_untouched_log_verifies(place: str) -> None:
    calls: list[tuple[int, int]] = []
    with open_log(place) as log:
        report = log.verify(progress=lambda done, total: calls.append((done, total)))
    assert (report.events, report.batches, len(report.head)) == (LAST, 3, 64)
    assert calls[-1] == (LAST, LAST)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("revision", 999),
        ("earliest", 1),
        ("latest", 1),
        ("line", 7),
        ("effect", 2),
        ("schema", 2),
        ("resource_version", "015"),
        ("identity", b"0123456789abcdef"),
        ("identity", b""),
        ("kind_id", 9999),
        ("object_id", 2),
        ("source_id", 1),
        ("actor_id", 2),
        ("branch_id", 2),
    ],
)
def test_a_changed_column_is_found(place: str, tamper: Tamper, column: str, value: object) -> None:
    tamper(f"UPDATE event SET {column} = ? WHERE position = 15", value)
    assert first_bad(place) == 15


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("branch_id", 2),
        ("first", 12),
        ("last", 19),
        ("last", 21),
        ("last", 2**61),
        ("codec", 0),
        ("codec", 9),
        ("dictionary_id", None),
        ("dictionary_id", 8),
        ("sizes", b""),
        ("sizes", b"\xc1"),
        ("sizes", msgpack([2] * 10)),
        ("sizes", msgpack([2**40] * 10)),
        ("sizes", msgpack([-1] * 10)),
        ("data", b""),
        ("data", b"\x28\xb5\x2f\xfd"),
        ("data", b"{}"),
    ],
)
def test_a_changed_column_of_a_block_is_found_at_its_first_event(
    place: str, tamper: Tamper, column: str, value: object
) -> None:
    tamper(f"UPDATE payload_block SET {column} = ? WHERE first = 11", value)
    assert first_bad(place) == 11


def _as_it_is(payloads: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Return sizes and data of a block that is not compressed."""
    return msgpack([len(payload) for payload in payloads]), b"".join(payloads)


_REPLACED = (
    "UPDATE payload_block SET sizes = ?, data = ?, codec = 0, dictionary_id = NULL WHERE first = 11"
)


@pytest.mark.parametrize("position", [11, 12, 17, 20])
@pytest.mark.parametrize("byte", [0, 1, -1])
def test_a_flipped_bit_of_a_payload_is_found(
    place: str, tamper: Tamper, position: int, byte: int
) -> None:
    with open_log(place) as log:
        payloads = list(log.payloads(range(11, 21)).values())
    flipped = bytearray(payloads[position - 11])
    flipped[byte] ^= 1
    payloads[position - 11] = bytes(flipped)
    tamper(_REPLACED, *_as_it_is(payloads))
    assert first_bad(place) == position


def test_a_byte_that_moves_from_one_payload_to_the_next_is_found(
    place: str, tamper: Tamper
) -> None:
    with open_log(place) as log:
        payloads = list(log.payloads(range(11, 21)).values())
    payloads[4], payloads[5] = payloads[4][:-1], payloads[4][-1:] + payloads[5]
    tamper(_REPLACED, *_as_it_is(payloads))
    assert first_bad(place) == 15


def test_recompression_is_no_damage(place: str, tamper: Tamper) -> None:
    with open_log(place) as log:
        payloads = list(log.payloads(range(11, 21)).values())
    tamper(_REPLACED, *_as_it_is(payloads))
    with open_log(place) as log:
        assert log.verify().events == LAST
        assert list(log.payloads(range(11, 21)).values()) == payloads


@pytest.mark.parametrize("first", [1, 11, 21])
def test_a_deleted_block_is_found(place: str, tamper: Tamper, first: int) -> None:
    tamper("DELETE FROM payload_block WHERE first = ?", first)
    assert first_bad(place) == first
    with open_log(place) as log, pytest.raises(LogCorrupt) as caught:
        list(log.read(Query()))
    assert caught.value.position == first


def test_deleted_blocks_that_were_closed_up_are_found(place: str, tamper: Tamper) -> None:
    tamper("DELETE FROM payload_block WHERE first = 11")
    tamper("UPDATE payload_block SET first = 11, last = 20 WHERE first = 21")
    assert first_bad(place) == 11


@pytest.mark.parametrize(
    ("first", "last", "bad"), [(13, 13, 13), (10, 10, 10), (31, 40, 31), (0, 0, 1), (-5, 3, 1)]
)
def test_an_inserted_block_is_found(
    place: str, tamper: Tamper, first: int, last: int, bad: int
) -> None:
    tamper(
        "INSERT INTO payload_block (branch_id, first, last, codec, sizes, data)"
        " VALUES (1, ?, ?, 0, ?, ?)",
        first,
        last,
        *_as_it_is([b"{}"] * (last - first + 1)),
    )
    assert first_bad(place) == bad


def test_swapped_blocks_are_found(place: str, tamper: Tamper) -> None:
    for old, new in ((11, 91), (21, 11), (91, 21)):
        tamper("UPDATE payload_block SET first = ?, last = ? WHERE first = ?", new, new + 9, old)
    assert first_bad(place) == 11


def test_blocks_that_were_joined_are_found(place: str, tamper: Tamper) -> None:
    """The payloads are the same, but leaves are hashes of blocks as they were committed."""
    with open_log(place) as log:
        payloads = list(log.payloads(range(11, LAST + 1)).values())
    tamper("DELETE FROM payload_block WHERE first = 21")
    tamper(_REPLACED, *_as_it_is(payloads))
    tamper(f"UPDATE payload_block SET last = {LAST} WHERE first = 11")
    assert first_bad(place) == 11


def test_a_cut_off_tail_of_blocks_is_found(place: str, tamper: Tamper) -> None:
    tamper("DELETE FROM payload_block WHERE first > 10")
    assert first_bad(place) == 11


def test_blocks_left_without_their_events_and_batch_are_found(place: str, tamper: Tamper) -> None:
    tamper("DELETE FROM event WHERE position > 20")
    tamper("DELETE FROM batch WHERE number = 3")
    assert first_bad(place) == 21


@pytest.mark.parametrize("position", [1, 9, 10, 11, 15, 20, 30])
def test_a_deleted_event_is_found(place: str, tamper: Tamper, position: int) -> None:
    tamper("DELETE FROM event WHERE position = ?", position)
    assert first_bad(place) == position


def test_deleted_events_that_were_closed_up_are_found(place: str, tamper: Tamper) -> None:
    tamper("DELETE FROM event WHERE position = 12")
    for position in range(13, LAST + 1):
        tamper("UPDATE event SET position = ? WHERE position = ?", position - 1, position)
    assert first_bad(place) == 12


def test_an_event_added_behind_the_end_is_found(place: str, tamper: Tamper) -> None:
    tamper(f"UPDATE event SET position = {LAST + 5} WHERE position = {LAST}")
    assert first_bad(place) == LAST
    tamper(f"UPDATE event SET position = {LAST} WHERE position = {LAST + 5}")
    tamper(
        "INSERT INTO event (branch_id, effect, schema, position, revision, object_id,"
        " kind_id, source_id, line) SELECT branch_id, effect, schema, position + 1,"
        f" 777, object_id, kind_id, source_id, line FROM event WHERE position = {LAST}"
    )
    assert first_bad(place) == LAST + 1


def test_an_event_squeezed_in_is_found(place: str, tamper: Tamper) -> None:
    for position in range(LAST, 13, -1):
        tamper("UPDATE event SET position = ? WHERE position = ?", position + 1, position)
    tamper(
        "INSERT INTO event (branch_id, effect, schema, position, revision, object_id,"
        " kind_id, source_id, line) SELECT branch_id, effect, schema,"
        " 14, 777, object_id, kind_id, source_id, line FROM event WHERE position = 13"
    )
    assert first_bad(place) == 14


@pytest.mark.parametrize("position", [5, 9])
def test_an_event_that_is_there_twice_is_found(place: str, tamper: Tamper, position: int) -> None:
    """As where a bit of a key was flipped; a table with its keys would refuse the second."""
    tamper("CREATE TABLE doubled AS SELECT * FROM event")
    tamper("INSERT INTO doubled SELECT * FROM event WHERE position = ?", position)
    tamper("DROP TABLE event")
    tamper("ALTER TABLE doubled RENAME TO event")
    assert first_bad(place) == position


def test_swapped_events_are_found(place: str, tamper: Tamper) -> None:
    for old, new in ((13, 99), (16, 13), (99, 16)):
        tamper("UPDATE event SET position = ? WHERE position = ?", new, old)
    assert first_bad(place) == 13


def test_a_cut_off_tail_is_found(place: str, tamper: Tamper) -> None:
    tamper("DELETE FROM event WHERE position > 25")
    assert first_bad(place) == 26


def test_a_tail_cut_off_with_its_batch_is_found(place: str, tamper: Tamper) -> None:
    for table, column in (("event", "position"), ("payload_block", "first"), ("batch", "first")):
        tamper(f"DELETE FROM {table} WHERE {column} > 20")
    assert first_bad(place) == 21


def test_a_missing_batch_is_found(place: str, tamper: Tamper) -> None:
    tamper("DELETE FROM batch WHERE number = 2")
    assert first_bad(place) == 11


@pytest.mark.parametrize(
    ("column", "value", "position"),
    [
        ("recorded_at", 1, 11),
        ("merkle_root", bytes(32), 11),
        ("previous", bytes(32), 11),
        ("hash", bytes(32), 11),
        ("marks", bytes(40), 11),
        ("marks", bytes(36), 11),
        ("first", 10, 11),
        ("last", 19, 11),
        ("last", 2**61, 11),
        ("number", 7, 11),
    ],
)
def test_a_changed_batch_is_found(
    place: str, tamper: Tamper, column: str, value: object, position: int
) -> None:
    tamper(f"UPDATE batch SET {column} = ? WHERE number = 2", value)
    assert first_bad(place) == position


@pytest.mark.parametrize(
    ("column", "value"),
    [("position", 29), ("position", 31), ("hash", bytes(32)), ("batch", 4), ("revision", 29)],
)
def test_a_changed_head_is_found(place: str, tamper: Tamper, column: str, value: object) -> None:
    tamper(f"UPDATE head SET {column} = ?", value)
    assert first_bad(place) in (30, 31)


def test_a_changed_text_is_found_at_the_first_event_that_uses_it(
    place: str, tamper: Tamper
) -> None:
    tamper("UPDATE symbol SET text = 'mallory' WHERE text = 'alice'")
    assert first_bad(place) == 30


def test_a_changed_object_is_found_at_its_first_event(place: str, tamper: Tamper) -> None:
    tamper("UPDATE object SET uid = 'forged' WHERE name = 'web-3'")
    assert first_bad(place) == 3


@pytest.mark.parametrize("table", ["symbol", "object", "dictionary", "cluster"])
def test_a_lost_table_is_found_at_the_first_event(place: str, tamper: Tamper, table: str) -> None:
    tamper(f"DELETE FROM {table}")
    assert first_bad(place) == 1


def test_a_moved_fork_is_found(place: str, tamper: Tamper) -> None:
    with open_log(place) as log:
        log.create_branch("b", fork=15)
        log.append(pods(100), branch="b")
    tamper("UPDATE branch SET fork = 14 WHERE name = 'b'")
    assert first_bad(place) == 15


def test_reading_a_damaged_payload_says_where(place: str, tamper: Tamper) -> None:
    tamper("UPDATE payload_block SET data = ? WHERE first = 11", b"\x28\xb5\x2f\xfd")
    with open_log(place) as log:
        with pytest.raises(LogCorrupt) as caught:
            list(log.read(Query()))
        assert caught.value.position == 11
        for positions in ([15], [15, 16]):
            with pytest.raises(LogCorrupt) as caught:
                log.payloads(positions)
            assert caught.value.position == 15


def test_rows_refuse_to_change(place: str) -> None:
    location = parse_location(place)
    statements = (
        "UPDATE event SET line = 0",
        "UPDATE payload_block SET codec = 0",
        *(f"DELETE FROM {table}" for table in WRITTEN_ONCE),
    )
    if location.database == "sqlite":
        file = sqlite3.connect(location.path)
        for statement in statements:
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                file.execute(statement)
        file.close()
        return
    with psycopg.connect(location.conninfo, autocommit=True) as server:
        server.execute(f"SET search_path TO {location.quoted_schema}")
        for statement in (*statements, *(f"TRUNCATE {table}" for table in WRITTEN_ONCE)):
            with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
                server.execute(statement)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_any_flipped_bit_of_the_file_is_found_or_harmless(
    tmp_path: Path, where: float, bit: int
) -> None:
    """A bit in free space or in an index may change nothing; it must never change what is read."""
    path = tmp_path / "whole.db"
    if not path.exists():
        with open_log(path, create=True) as log:
            log.append([*pods(*range(1, 60)), message("x")])
    whole = path.read_bytes()
    with open_log(path) as log:
        expected = list(log.read(Query()))
    place = int(len(whole) * where)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << bit)]) + whole[place + 1 :])
    for side in ("-wal", "-shm"):
        damaged.with_name(damaged.name + side).unlink(missing_ok=True)
    try:
        with open_log(damaged) as log:
            log.verify()
            found = list(log.read(Query()))
    except LogError:
        return
    assert found == expected

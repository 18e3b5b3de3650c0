"""The tables go forward and back with data in them, and agree with what the code believes."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from pods import message, pods
from postgres_tables import migrating_statements
from sqlite_tables import migrated_tables

from plinian.engine.errors import LogNewer, LogNotFound, LogOlder, UsageError
from plinian.engine.log import Checkpoint, FactBlock, Query, open_log
from plinian.engine.log.creation import as_text, shipped_tables, tables_text
from plinian.engine.log.location import parse_location
from plinian.engine.log.migrating import connected, downgrade, info, migrate, upgrade
from plinian.engine.log.schema import metadata
from plinian.engine.log.schema_revision import REVISION, REVISIONS
from plinian.migrations import versions


def _run(place: str, sql: str) -> None:
    with connected(parse_location(place)) as connection:
        connection.exec_driver_sql(sql)


def test_down_and_up_again_with_data_keeps_the_log(log_place: str) -> None:
    with open_log(log_place, create=True) as log:
        log.append([*pods(*range(100)), message("x")])
        log.create_branch("b", fork=50)
        before = [list(log.read(Query(branch=name))) for name in ("main", "b")]
        head = log.verify().head
        log.put_checkpoint(
            Checkpoint(branch="main", cluster="default", revision=5, known=9, version=1, data=b"c")
        )
        log.put_facts(
            [
                FactBlock(
                    first=1,
                    last=9,
                    low_revision=0,
                    high_revision=8,
                    unrevisioned=False,
                    data=b"f",
                )
            ],
            cluster="default",
            branch="main",
            version=1,
        )
    downgrade(log_place, "0001")
    assert info(log_place).current == "0001"
    with pytest.raises(LogOlder) as caught:
        open_log(log_place)
    assert "plinian db upgrade" in caught.value.now
    upgrade(log_place)
    upgrade(log_place)
    with open_log(log_place) as log:
        assert log.verify().head == head
        assert [list(log.read(Query(branch=name))) for name in ("main", "b")] == before
        assert list(log.checkpoints()) == []
        assert log.append(pods(99, 100)).known == 1


def test_down_to_base_leaves_nothing_and_a_new_log_can_be_made(log_place: str) -> None:
    with open_log(log_place, create=True) as log:
        log.append(pods(1, 2, 3))
    downgrade(log_place, "base")
    assert info(log_place).current is None
    with pytest.raises(LogNotFound):
        open_log(log_place)
    with open_log(log_place, create=True) as log:
        assert log.last() == 0
        assert log.append(pods(1)).last == 1


def test_tables_that_were_only_upgraded_are_founded_on_creation(log_place: str) -> None:
    open_log(log_place, create=True).close()
    downgrade(log_place, "base")
    upgrade(log_place)
    with pytest.raises(LogNotFound):
        open_log(log_place)
    with open_log(log_place, create=True) as log:
        assert log.append(pods(1)).last == 1


def test_migrations_and_metadata_agree(log_place: str) -> None:
    open_log(log_place, create=True).close()
    with connected(parse_location(log_place)) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_new_files_get_the_tables_that_the_migrations_make(tmp_path: Path) -> None:
    founded = tmp_path / "founded.db"
    open_log(founded, create=True).close()
    made = tables_text(parse_location(str(founded)))
    assert made == migrated_tables(tmp_path), "run: python tools/sqlite_tables.py"


@pytest.mark.postgres
def test_new_schemas_get_the_tables_that_the_migrations_make(postgres_log_url: str) -> None:
    made = migrating_statements(postgres_log_url)
    assert as_text(shipped_tables("postgres")) == made, "run: python tools/postgres_tables.py URL"


@pytest.mark.postgres
def test_a_schema_with_a_table_of_somebody_else_gets_a_log_too(postgres_log_url: str) -> None:
    with connected(parse_location(postgres_log_url), create=True) as connection:
        connection.exec_driver_sql("CREATE TABLE theirs (id int)")
    with open_log(postgres_log_url, create=True) as log:
        assert log.append(pods(1)).last == 1
    _run(postgres_log_url, "SELECT id FROM theirs")


def test_a_file_with_tables_that_was_never_founded_is_founded(tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    with connected(parse_location(str(place)), create=True) as connection:
        migrate(connection)
    with open_log(place, create=True) as log:
        log.append(pods(1))
        assert log.verify().events == 1


def test_revisions_are_known_by_name(log_place: str) -> None:
    open_log(log_place, create=True).close()
    found = info(log_place)
    assert (found.current, found.newest) == (REVISION, REVISION)
    assert tuple(revision for revision, _ in found.revisions) == REVISIONS
    assert all(about for _, about in found.revisions)
    modules = [
        importlib.import_module(f"{versions.__name__}.{module.name}")
        for module in pkgutil.iter_modules(versions.__path__)
    ]
    assert sorted(module.revision for module in modules) == sorted(REVISIONS)


def test_a_revision_that_does_not_exist_is_named(log_place: str) -> None:
    open_log(log_place, create=True).close()
    with pytest.raises(UsageError, match="0099"):
        upgrade(log_place, "0099")


def test_tables_of_a_newer_plinian_are_left_alone(log_place: str) -> None:
    open_log(log_place, create=True).close()
    _run(log_place, "UPDATE alembic_version SET version_num = '9999'")
    for attempt in (
        lambda: open_log(log_place),
        lambda: open_log(log_place, create=True),
        lambda: upgrade(log_place),
        lambda: downgrade(log_place, "base"),
    ):
        with pytest.raises(LogNewer):
            attempt()
    assert info(log_place).current == "9999"


@pytest.mark.parametrize("algorithm", ["sha9", "blake2b-256/1"])
def test_a_log_with_another_hash_is_left_alone(log_place: str, algorithm: str) -> None:
    open_log(log_place, create=True).close()
    _run(log_place, f"UPDATE log SET hash_algorithm = '{algorithm}'")
    for create in (False, True):
        with pytest.raises(LogNewer, match=algorithm) as caught:
            open_log(log_place, create=create)
        assert parse_location(log_place).shown == caught.value.where
        assert "ingest its inputs again" in caught.value.now


def test_what_is_not_there_cannot_be_migrated(log_place: str) -> None:
    for attempt in (upgrade, info, lambda place: downgrade(place, "base")):
        with pytest.raises(LogNotFound):
            attempt(log_place)

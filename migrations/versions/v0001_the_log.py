"""The log: branches, batches, events, and the texts and dictionaries that they refer to."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_SMALL, _INT, _BIG = sa.SmallInteger, sa.Integer, sa.BigInteger
_TEXT, _BYTES = sa.Text, sa.LargeBinary

_REFUSE_SQLITE = """
CREATE TRIGGER {table}_refuse_{verb} BEFORE {verb} ON {table}
BEGIN SELECT RAISE(ABORT, 'the log is append-only: {table} rows never change'); END
"""

# SQLite plans without statistics as if a branch had ten events. These stand for a large log; they
# are written once, so that the same query runs the same way on every log.
_STATISTICS = (
    ("event", "event", "2000000 2000000 1"),
    ("event", "event_version", "1500000 1500000 2 2 1"),
    ("event", "event_identity", "500000 500000 100000 1"),
    ("event", "event_object", "2000000 2000000 10 1"),
)

_WRITTEN_ONCE = ("event", "payload_block", "batch")

_REFUSE_FUNCTION = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the log is append-only: % rows never change', TG_TABLE_NAME; END $$
"""

_REFUSE_POSTGRES = """
CREATE TRIGGER {table}_refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
"""


def _key(name: str, kind: type[sa.types.TypeEngine[int]] = _SMALL) -> sa.Column[int]:
    return sa.Column(name, kind, primary_key=True, autoincrement=False)


def _required(name: str, kind: type[sa.types.TypeEngine[Any]]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def upgrade() -> None:
    """Create the log's tables, its indexes, and the triggers that make it append-only."""
    _create_names()
    _create_chain()
    _create_event()
    _create_payload_block()
    if op.get_bind().dialect.name == "postgresql":
        # A block is compressed already, and most fit into a page: neither try again nor move out.
        op.execute("ALTER TABLE payload_block ALTER COLUMN data SET STORAGE EXTERNAL")
        op.execute("ALTER TABLE payload_block SET (toast_tuple_target = 8160)")
        op.execute(_REFUSE_FUNCTION)
        for table in _WRITTEN_ONCE:
            op.execute(_REFUSE_POSTGRES.format(table=table))
    else:
        for table in _WRITTEN_ONCE:
            for verb in ("update", "delete"):
                op.execute(_REFUSE_SQLITE.format(table=table, verb=verb))
        op.execute("ANALYZE")
        for row in _STATISTICS:
            values = ", ".join(f"'{value}'" for value in row)
            op.execute(f"INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ({values})")  # noqa: S608


def downgrade() -> None:
    """Drop the log with everything in it."""
    for table in (
        "dictionary",
        "symbol",
        "object",
        "event",
        "payload_block",
        "batch",
        "head",
        "branch",
        "cluster",
        "log",
    ):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_change()")


def _create_names() -> None:
    op.create_table(
        "log", _key("id"), _required("hash_algorithm", _TEXT), _required("plinian", _TEXT)
    )
    op.create_table("cluster", _key("id"), _required("name", _TEXT), sa.UniqueConstraint("name"))
    op.create_table(
        "symbol", _key("id", _INT), _required("text", _TEXT), sa.UniqueConstraint("text")
    )
    op.create_table("dictionary", _key("id", _INT), _required("data", _BYTES))
    op.create_table(
        "object",
        _key("id", _INT),
        _required("cluster_id", _SMALL),
        _required("group_id", _INT),
        _required("kind_id", _INT),
        _required("namespace_id", _INT),
        _required("key", _BYTES),
        _required("name", _TEXT),
        _required("uid", _TEXT),
        sa.UniqueConstraint("key"),
    )


def _create_chain() -> None:
    op.create_table(
        "branch",
        _key("id"),
        _required("name", _TEXT),
        sa.Column("parent_id", _SMALL),
        _required("fork", _BIG),
        _required("genesis", _BYTES),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "head",
        _key("branch_id"),
        _required("position", _BIG),
        _required("revision", _BIG),
        _required("batch", _BIG),
        _required("recorded_at", _BIG),
        _required("hash", _BYTES),
    )
    op.create_table(
        "batch",
        _key("branch_id"),
        _key("number", _BIG),
        _required("first", _BIG),
        _required("last", _BIG),
        _required("recorded_at", _BIG),
        _required("merkle_root", _BYTES),
        _required("previous", _BYTES),
        _required("hash", _BYTES),
        _required("marks", _BYTES),
        sa.UniqueConstraint("branch_id", "last"),
        sqlite_with_rowid=False,
    )


def _create_event() -> None:
    op.create_table(
        "event",
        _key("branch_id"),
        _required("effect", _SMALL),
        _required("schema", _SMALL),
        _key("position", _BIG),
        sa.Column("revision", _BIG),
        sa.Column("earliest", _BIG),
        sa.Column("latest", _BIG),
        _required("object_id", _INT),
        _required("kind_id", _INT),
        _required("source_id", _INT),
        _required("line", _INT),
        sa.Column("actor_id", _INT),
        sa.Column("resource_version", _TEXT),
        sa.Column("identity", _BYTES),
        sqlite_with_rowid=False,
    )
    for name, columns, where in (
        ("event_version", ["branch_id", "revision", "object_id", "effect"], "revision IS NOT NULL"),
        ("event_identity", ["branch_id", "effect", "identity"], "identity IS NOT NULL"),
    ):
        op.create_index(
            name,
            "event",
            columns,
            unique=True,
            sqlite_where=sa.text(where),
            postgresql_where=sa.text(where),
        )
    op.create_index("event_object", "event", ["branch_id", "object_id", "position"])


def _create_payload_block() -> None:
    op.create_table(
        "payload_block",
        _key("branch_id"),
        _key("first", _BIG),
        _required("last", _BIG),
        _required("codec", _SMALL),
        sa.Column("dictionary_id", _INT),
        _required("sizes", _BYTES),
        _required("data", _BYTES),
    )

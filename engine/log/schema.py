"""The log's tables, once for both databases; ``docs/storage.md`` specifies what is in them.

Migrations repeat these tables on purpose: a migration must not change when the tables do. A test
checks that the newest revision and this module agree. Tables refer to each other by small integers
without foreign keys: the hash chain covers the texts of the ids, and ``verify`` finds an id that
is not in the log.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "pk": "%(table_name)s_pkey",
    }
)

log = Table(
    "log",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("hash_algorithm", Text, nullable=False),
    Column("plinian", Text, nullable=False),
)
"""One row, from the creation of the log. Writers lock it, so that one at a time appends."""

cluster = Table(
    "cluster",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
)

branch = Table(
    "branch",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
    Column("parent_id", SmallInteger),
    Column("fork", BigInteger, nullable=False),
    Column("genesis", LargeBinary, nullable=False),
)

head = Table(
    "head",
    metadata,
    Column("branch_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("position", BigInteger, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("batch", BigInteger, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
)
"""Where each branch ends; the only rows of the log that change."""

batch = Table(
    "batch",
    metadata,
    Column("branch_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("first", BigInteger, nullable=False),
    Column("last", BigInteger, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("merkle_root", LargeBinary, nullable=False),
    Column("previous", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("marks", LargeBinary, nullable=False),
    UniqueConstraint("branch_id", "last"),
    sqlite_with_rowid=False,
)

event = Table(
    "event",
    metadata,
    Column("branch_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("effect", SmallInteger, nullable=False),
    Column("schema", SmallInteger, nullable=False),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("revision", BigInteger),
    Column("earliest", BigInteger),
    Column("latest", BigInteger),
    Column("object_id", Integer, nullable=False),
    Column("kind_id", Integer, nullable=False),
    Column("source_id", Integer, nullable=False),
    Column("line", Integer, nullable=False),
    Column("actor_id", Integer),
    Column("resource_version", Text),
    Column("identity", LargeBinary),
    # Rising within one cluster, so inserts are at the end; finds known events and ranges.
    Index(
        "event_version",
        "branch_id",
        "revision",
        "object_id",
        "effect",
        unique=True,
        sqlite_where=text("revision IS NOT NULL"),
        postgresql_where=text("revision IS NOT NULL"),
    ),
    # Also finds the few events that change truth without having a revision.
    Index(
        "event_identity",
        "branch_id",
        "effect",
        "identity",
        unique=True,
        sqlite_where=text("identity IS NOT NULL"),
        postgresql_where=text("identity IS NOT NULL"),
    ),
    Index("event_object", "branch_id", "object_id", "position"),
    sqlite_with_rowid=False,
)

payload_block = Table(
    "payload_block",
    metadata,
    Column("branch_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("first", BigInteger, primary_key=True, autoincrement=False),
    Column("last", BigInteger, nullable=False),
    Column("codec", SmallInteger, nullable=False),
    Column("dictionary_id", Integer),
    Column("sizes", LargeBinary, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""Payloads of consecutive events, compressed together."""

object_ = Table(
    "object",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("cluster_id", SmallInteger, nullable=False),
    Column("group_id", Integer, nullable=False),
    Column("kind_id", Integer, nullable=False),
    Column("namespace_id", Integer, nullable=False),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("uid", Text, nullable=False),
)

symbol = Table(
    "symbol",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False, unique=True),
)
"""Texts that repeat: event kinds, API groups and kinds, namespaces, sources, actors."""

dictionary = Table(
    "dictionary",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)
"""zstd dictionaries; they make the log readable without the Plinian that wrote it."""

checkpoint = Table(
    "checkpoint",
    metadata,
    Column("branch_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("cluster_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("revision", BigInteger, primary_key=True, autoincrement=False),
    Column("known", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

fact_block = Table(
    "fact_block",
    metadata,
    Column("branch_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("cluster_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("first", BigInteger, primary_key=True, autoincrement=False),
    Column("last", BigInteger, nullable=False),
    Column("low_revision", BigInteger, nullable=False),
    Column("high_revision", BigInteger, nullable=False),
    Column("unrevisioned", Boolean, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

clock_block = Table(
    "clock_block",
    metadata,
    Column("branch_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("cluster_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("part", SmallInteger, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("known", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

seal = Table(
    "seal",
    metadata,
    Column("branch_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("cluster_id", SmallInteger, primary_key=True, autoincrement=False),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("part", SmallInteger, primary_key=True, autoincrement=False),
    Column("rows", LargeBinary, nullable=False),
    Column("batch", LargeBinary, nullable=False),
)
"""Hashes of the derived rows, and the last batch that they were built from."""

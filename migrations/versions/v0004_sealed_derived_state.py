"""Hashes for what is derived from the log, so that damage to it is found where it is used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_SMALL, _INT, _BIG = sa.SmallInteger, sa.Integer, sa.BigInteger
_TABLES = ("checkpoint", "fact_block", "clock_block")


def upgrade() -> None:
    """Make the derived tables anew, empty; ``plinian checkpoint build`` fills them."""
    _drop()
    # The hash stands before the data: to look at hashes alone must not read all that is hashed.
    _create("hash", "data")
    op.create_table(
        "seal",
        _key("branch_id", _SMALL),
        _key("cluster_id", _SMALL),
        _key("version", _INT),
        _key("part", _SMALL),
        sa.Column("rows", sa.LargeBinary, nullable=False),
        sa.Column("batch", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Make the derived tables as they were before, empty."""
    op.drop_table("seal")
    _drop()
    _create("data")


def _key(name: str, kind: type[sa.types.TypeEngine[int]]) -> sa.Column[int]:
    return sa.Column(name, kind, primary_key=True, autoincrement=False)


def _place() -> list[sa.Column[int]]:
    return [_key("branch_id", _SMALL), _key("cluster_id", _SMALL), _key("version", _INT)]


def _required(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, _BIG, nullable=False) for name in names]


def _drop() -> None:
    for table in _TABLES:
        op.drop_table(table)


def _bytes(names: tuple[str, ...]) -> list[sa.Column[bytes]]:
    return [sa.Column(name, sa.LargeBinary, nullable=False) for name in names]


def _create(*held: str) -> None:
    op.create_table(
        "checkpoint",
        *_place(),
        _key("revision", _BIG),
        *_required("known"),
        *_bytes(held),
    )
    op.create_table(
        "fact_block",
        *_place(),
        _key("first", _BIG),
        *_required("last", "low_revision", "high_revision"),
        sa.Column("unrevisioned", sa.Boolean, nullable=False),
        *_bytes(held),
    )
    op.create_table(
        "clock_block",
        *_place(),
        _key("part", _SMALL),
        _key("number", _INT),
        *_required("known"),
        *_bytes(held),
    )
    if op.get_bind().dialect.name == "postgresql":
        for table in _TABLES:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN data SET STORAGE EXTERNAL")

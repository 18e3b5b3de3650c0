"""What is derived from the log and may be dropped: checkpoints and the fact sidecar."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_PLACE = ("branch_id", "cluster_id")


def _place() -> list[sa.Column[int]]:
    small = [sa.Column(n, sa.SmallInteger, primary_key=True, autoincrement=False) for n in _PLACE]
    return [*small, sa.Column("version", sa.Integer, primary_key=True, autoincrement=False)]


def upgrade() -> None:
    """Create the tables, empty; nothing in the log changes."""
    op.create_table(
        "checkpoint",
        *_place(),
        sa.Column("revision", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("known", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "fact_block",
        *_place(),
        sa.Column("first", sa.BigInteger, primary_key=True, autoincrement=False),
        *(
            sa.Column(name, sa.BigInteger, nullable=False)
            for name in ("last", "low_revision", "high_revision")
        ),
        sa.Column("unrevisioned", sa.Boolean, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        for table in ("checkpoint", "fact_block"):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN data SET STORAGE EXTERNAL")


def downgrade() -> None:
    """Drop the tables; what was in them can be made again from the log."""
    op.drop_table("fact_block")
    op.drop_table("checkpoint")

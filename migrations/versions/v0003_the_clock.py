"""The clock: between which times each revision happened, derived and to be dropped at will."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table, empty; nothing in the log changes."""
    op.create_table(
        "clock_block",
        *(
            sa.Column(name, kind, primary_key=True, autoincrement=False)
            for name, kind in (
                ("branch_id", sa.SmallInteger),
                ("cluster_id", sa.SmallInteger),
                ("version", sa.Integer),
                ("part", sa.SmallInteger),
                ("number", sa.Integer),
            )
        ),
        sa.Column("known", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE clock_block ALTER COLUMN data SET STORAGE EXTERNAL")


def downgrade() -> None:
    """Drop the table; what was in it can be made again from the log."""
    op.drop_table("clock_block")

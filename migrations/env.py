"""Run by Alembic for each command; :mod:`plinian.engine.log.migrating` gives the connection."""

from __future__ import annotations

from alembic import context

from plinian.engine.log.schema import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    # One transaction for everything: a log is at a revision, or it is untouched.
    transaction_per_migration=False,
    transactional_ddl=True,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()

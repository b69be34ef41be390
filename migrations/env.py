"""What Alembic runs: the steps, on the connection that `manager.db.migrate` opened."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes["metadata"],
    render_as_batch=True,  # SQLite changes a column only by copying the table
    transactional_ddl=True,
)
# The caller's transaction is the step's: all of it or nothing.
context.run_migrations()

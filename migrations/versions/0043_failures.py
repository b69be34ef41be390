"""Codes for hosts without an address and for failed units; settings under old names."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

_STATES = ("waiting", "granted", "finished", "cancelled")
_UNRESOLVED = sa.text("resolve_failure <> ''")

# Until now only words were kept; the next look-up of each host sets its code again.
_CODES = """
    UPDATE hosts SET resolve_failure = CASE
        WHEN resolve_problem LIKE 'forbidden address%' THEN 'forbidden_address'
        WHEN resolve_problem LIKE 'no answer about %' THEN 'name_unanswered'
        WHEN resolve_problem LIKE '%: Domain name not found' THEN 'no_such_name'
        ELSE 'no_address' END
    WHERE resolve_problem <> ''
"""


def _states(*values: str) -> str:
    return f"state IN ({', '.join(repr(value) for value in values)})"


def upgrade() -> None:
    """Go to this schema."""
    op.add_column(
        "hosts", sa.Column("resolve_failure", sa.Text(), nullable=False, server_default="")
    )
    op.execute(_CODES)
    op.create_index(
        "ix_hosts_unresolved",
        "hosts",
        ["id"],
        sqlite_where=_UNRESOLVED,
        postgresql_where=_UNRESOLVED,
    )
    op.add_column(
        "agents", sa.Column("renamed_settings", sa.Text(), nullable=False, server_default="")
    )
    with op.batch_alter_table("unit_rounds") as batch:
        batch.add_column(sa.Column("failure", sa.Text(), nullable=False, server_default=""))
        batch.drop_constraint(op.f("ck_unit_rounds_state"), type_="check")
        batch.create_check_constraint(op.f("ck_unit_rounds_state"), _states(*_STATES, "failed"))


def downgrade() -> None:
    """Go back: units that failed count as finished again."""
    op.execute("UPDATE unit_rounds SET state = 'finished' WHERE state = 'failed'")
    with op.batch_alter_table("unit_rounds") as batch:
        batch.drop_constraint(op.f("ck_unit_rounds_state"), type_="check")
        batch.create_check_constraint(op.f("ck_unit_rounds_state"), _states(*_STATES))
        batch.drop_column("failure")
    op.drop_column("agents", "renamed_settings")
    op.drop_index("ix_hosts_unresolved", table_name="hosts")
    op.drop_column("hosts", "resolve_failure")

"""Rounds, and schedules of rounds, may have their own limit on the moves of their plan."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; what is there goes by the policy's limit."""
    for table in ("rounds", "round_schedules"):
        op.add_column(table, sa.Column("plan_moves", sa.Float(), nullable=True))


def downgrade() -> None:
    """Go back; the limits are lost."""
    for table in ("round_schedules", "rounds"):
        with op.batch_alter_table(table) as batch:
            batch.drop_column("plan_moves")

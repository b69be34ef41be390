"""Probe orders have a state `not_needed`, and say whether they may get it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

OLD_STATES = "state IN ('waiting', 'granted', 'finished', 'done', 'failed')"
NEW_STATES = "state IN ('waiting', 'granted', 'finished', 'done', 'failed', 'not_needed')"


def upgrade() -> None:
    """Go to this schema; orders of before are all carried out."""
    spare: sa.Column[bool] = sa.Column("spare", sa.Boolean(), server_default="0", nullable=False)
    op.add_column("probe_orders", spare)
    _check_states(NEW_STATES)
    op.create_index(
        "ix_probe_orders_spare",
        "probe_orders",
        ["state", "id"],
        sqlite_where=sa.text("spare = 1"),
        postgresql_where=sa.text("spare"),
    )


def downgrade() -> None:
    """Return to the former schema: orders that were not needed failed."""
    op.drop_index("ix_probe_orders_spare", "probe_orders")
    op.get_bind().execute(
        sa.text("UPDATE probe_orders SET state = 'failed' WHERE state = 'not_needed'")
    )
    _check_states(OLD_STATES)
    op.drop_column("probe_orders", "spare")


def _check_states(states: str) -> None:
    with op.batch_alter_table("probe_orders") as batch:
        batch.drop_constraint(op.f("ck_probe_orders_state"), type_="check")
        batch.create_check_constraint(op.f("ck_probe_orders_state"), states)

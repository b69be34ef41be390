"""Control hosts, what makes an agent suspect, and budgets of probes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    with op.batch_alter_table("units") as batch:
        batch.add_column(sa.Column("control_ms", sa.BigInteger(), nullable=True))
    with op.batch_alter_table("agents") as batch:
        batch.add_column(sa.Column("suspect_since_ms", sa.BigInteger(), nullable=True))
        batch.add_column(sa.Column("suspect_reason", sa.Text(), server_default="", nullable=False))
    with op.batch_alter_table("clock") as batch:
        batch.add_column(
            sa.Column("watched_report", sa.BigInteger(), server_default="0", nullable=False)
        )
    op.create_index(
        op.f("ix_probe_orders_agent_id_granted_ms"), "probe_orders", ["agent_id", "granted_ms"]
    )

"""Capacities that agents report: hours, slots, limits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema. Agents report their capacity with the next sync."""
    op.add_column("agents", sa.Column("capacity", sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    """Go back."""
    with op.batch_alter_table("agents") as batch:
        batch.drop_column("capacity")

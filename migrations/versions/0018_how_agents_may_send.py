"""Agents may be told how fast, and in which hours, they send segments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; agents send as their sites say."""
    op.add_column("agents", sa.Column("sending", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Go back; the limits are lost."""
    with op.batch_alter_table("agents") as batch:
        batch.drop_column("sending")

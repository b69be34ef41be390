"""Administrators are notified of alerts, and can silence them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; no notification was sent yet."""
    op.create_table(
        "alerts_told",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
        sa.Column("told_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_alerts_told")),
    )
    column = sa.Column("quiet_until_ms", sa.BigInteger(), server_default="0", nullable=False)
    op.add_column("clock", column)


def downgrade() -> None:
    """Go back; alerts are sent again."""
    with op.batch_alter_table("clock") as batch:
        batch.drop_column("quiet_until_ms")
    op.drop_table("alerts_told")

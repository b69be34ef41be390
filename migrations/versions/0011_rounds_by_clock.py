"""Rounds that begin by the clock; agents that came back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "round_schedules",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("crontab", sa.Text(), server_default="", nullable=False),
        sa.Column("zone", sa.Text(), server_default="", nullable=False),
        sa.Column("method", sa.Text(), server_default="", nullable=False),
        sa.Column("probe", sa.Boolean(), server_default="1", nullable=False),
        sa.Column("made_by", sa.Text(), server_default="", nullable=False),
        sa.Column("made_ms", sa.BigInteger(), nullable=False),
        sa.Column("next_ms", sa.BigInteger(), nullable=False),
        sa.Column("last_ms", sa.BigInteger(), nullable=True),
        sa.Column("last_result", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round_schedules")),
    )
    op.add_column("agents", sa.Column("returned", sa.Boolean(), server_default="0", nullable=False))


def downgrade() -> None:
    """Go back; the schedules are lost."""
    with op.batch_alter_table("agents") as batch:
        batch.drop_column("returned")
    op.drop_table("round_schedules")

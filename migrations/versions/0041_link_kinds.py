"""Counts of links by kind, round and agent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "round_link_kinds",
        sa.Column("round", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("links", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("pages", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("missing", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["agents.id"], name=op.f("fk_round_link_kinds_agent_id")
        ),
        sa.PrimaryKeyConstraint("round", "agent_id", "kind", name=op.f("pk_round_link_kinds")),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_table("round_link_kinds")

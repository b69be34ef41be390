"""Hosts that several agents share: pieces, shares of the rate, rest that one asks of all."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema. No host is split before it."""
    with op.batch_alter_table("hosts") as batch:
        batch.add_column(sa.Column("shared_interval_ms", sa.BigInteger(), nullable=True))
        batch.add_column(sa.Column("shares", sa.BigInteger(), server_default="0", nullable=False))
    with op.batch_alter_table("units") as batch:
        batch.add_column(sa.Column("merged_ms", sa.BigInteger(), nullable=True))
    with op.batch_alter_table("start_pages") as batch:
        batch.add_column(sa.Column("round", sa.BigInteger(), nullable=True))
    with op.batch_alter_table("rights") as batch:
        batch.add_column(sa.Column("news_generation", sa.BigInteger(), nullable=True))
    with op.batch_alter_table("unit_rounds") as batch:
        batch.add_column(sa.Column("quiet_ms", sa.BigInteger(), nullable=True))
    op.create_table(
        "host_rests",
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("rest_ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("until_ms", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name="fk_host_rests_agent_id"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name="fk_host_rests_host_id"),
        sa.PrimaryKeyConstraint("host_id", "agent_id", name="pk_host_rests"),
    )

"""Pins and bans: what people decided about owners."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "pins",
        sa.Column("unit_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("made_by", sa.Text(), server_default="", nullable=False),
        sa.Column("made_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_pins_agent_id")),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_pins_unit_id")),
        sa.PrimaryKeyConstraint("unit_id", name=op.f("pk_pins")),
    )
    op.create_index("ix_pins_agent_id_unit_id", "pins", ["agent_id", "unit_id"])
    op.create_table(
        "bans",
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("made_by", sa.Text(), server_default="", nullable=False),
        sa.Column("made_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_bans_agent_id")),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_bans_host_id")),
        sa.PrimaryKeyConstraint("host_id", "agent_id", name=op.f("pk_bans")),
    )
    op.create_index("ix_bans_agent_id_host_id", "bans", ["agent_id", "host_id"])


def downgrade() -> None:
    """Go back; the pins and bans are lost."""
    op.drop_table("bans")
    op.drop_table("pins")

"""Reports of agents on updates are kept, also late ones."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; of earlier reports each agent has the last."""
    op.create_table(
        "update_reports",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Text(), server_default="", nullable=False),
        sa.Column("outcome", sa.Text(), server_default="", nullable=False),
        sa.Column("step", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("times", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("reported_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["agents.id"], name=op.f("fk_update_reports_agent_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_update_reports")),
        sa.UniqueConstraint(
            "agent_id",
            "at_ms",
            "version",
            "outcome",
            "step",
            name=op.f("uq_update_reports_agent_id_at_ms_version_outcome_step"),
        ),
    )


def downgrade() -> None:
    """Go back; the last report of each agent stays with it."""
    op.drop_table("update_reports")

"""Sums of all logs for each hour; distances are found by their age."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; hours before are not known."""
    op.create_table(
        "activity",
        sa.Column("hour_ms", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("requests", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("pages", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("errors", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("hour_ms", name=op.f("pk_activity")),
    )
    op.drop_index(op.f("ix_distances_agent_id"), table_name="distances")
    op.create_index(
        op.f("ix_distances_agent_id_measured_ms"), "distances", ["agent_id", "measured_ms"]
    )
    op.create_index(op.f("ix_distances_measured_ms"), "distances", ["measured_ms"])
    op.create_index(
        "ix_distances_unreachable",
        "distances",
        ["agent_id"],
        sqlite_where=sa.text("ms_per_kb IS NULL"),
        postgresql_where=sa.text("ms_per_kb IS NULL"),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_index("ix_distances_unreachable", table_name="distances")
    op.drop_index(op.f("ix_distances_measured_ms"), table_name="distances")
    op.drop_index(op.f("ix_distances_agent_id_measured_ms"), table_name="distances")
    op.create_index(op.f("ix_distances_agent_id"), "distances", ["agent_id"])
    op.drop_table("activity")

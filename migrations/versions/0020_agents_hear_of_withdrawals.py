"""Agents hear of hosts that were withdrawn, also of those that were before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; hosts that are excluded now count as withdrawn then."""
    op.create_table(
        "withdrawals",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_withdrawals_host_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_withdrawals")),
    )
    op.execute(
        "INSERT INTO withdrawals (host_id, at_ms) SELECT id, excluded_ms FROM hosts "
        "WHERE excluded_ms IS NOT NULL ORDER BY excluded_ms, id"
    )


def downgrade() -> None:
    """Go back; agents hear of no withdrawal."""
    op.drop_table("withdrawals")

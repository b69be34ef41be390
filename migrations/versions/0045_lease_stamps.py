"""Stamps that this database's managers put on the lease of its files."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "lease_stamps",
        sa.Column("stamp", sa.Text(), nullable=False),
        sa.Column("written_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("stamp", name=op.f("pk_lease_stamps")),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_table("lease_stamps")

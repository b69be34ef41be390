"""Sizes and digests of CDXJ indexes; those of before are learned when they are next read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    for column in (
        sa.Column("cdxj_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("cdxj_sha256", sa.Text(), server_default="", nullable=False),
    ):
        op.add_column("segments", column)


def downgrade() -> None:
    """Go back."""
    op.drop_column("segments", "cdxj_sha256")
    op.drop_column("segments", "cdxj_bytes")

"""Lines of robots.txt in the sums of a unit: they are no pages of its limit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.add_column(
        "host_sums", sa.Column("robots_lines", sa.BigInteger(), nullable=False, server_default="0")
    )


def downgrade() -> None:
    """Go back."""
    op.drop_column("host_sums", "robots_lines")

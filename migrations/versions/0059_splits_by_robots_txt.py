"""A split knows whether its pause is shorter because the robots.txt of its host says so."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; the pauses of splits of before are the owners' or a person's."""
    by_robots: sa.Column[bool] = sa.Column(
        "by_robots", sa.Boolean(), server_default="0", nullable=False
    )
    op.add_column("host_splits", by_robots)


def downgrade() -> None:
    """Return to the former schema."""
    op.drop_column("host_splits", "by_robots")

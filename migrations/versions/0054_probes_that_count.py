"""Probes count as part of their crawls, and pages are drawn from them too."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; no crawl so far continued a probe."""
    op.add_column(
        "host_sums", sa.Column("with_probe", sa.Boolean(), server_default="0", nullable=False)
    )
    op.add_column(
        "refetch_pages", sa.Column("kind", sa.Text(), server_default="crawl", nullable=False)
    )


def downgrade() -> None:
    """Go back: crawls keep the sums of the probes that they continued."""
    op.execute("DELETE FROM refetch_pages WHERE kind = 'probe' AND state = 'drawn'")
    op.drop_column("refetch_pages", "kind")
    op.drop_column("host_sums", "with_probe")

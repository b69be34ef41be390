"""The Crawl-delay of each host, as agents read it in robots.txt."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "crawl_delays",
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("agent_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("delay_ms", sa.BigInteger(), nullable=False),
        sa.Column("seen_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["host_id"], ["hosts.id"], name=op.f("fk_crawl_delays_host_id_hosts")
        ),
        sa.PrimaryKeyConstraint("host_id", "agent_id", name=op.f("pk_crawl_delays")),
    )


def downgrade() -> None:
    """Return to the former schema."""
    op.drop_table("crawl_delays")

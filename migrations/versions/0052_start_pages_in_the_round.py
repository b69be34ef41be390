"""Start pages: how often each is referred to, what fell out, and which wait for their agents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

COLUMNS = (
    ("start_pages", "referrers", False),
    ("start_pages", "found_by", True),  # NULL: a person
    ("units", "dropped_pages", False),
    ("unit_rounds", "reopened", False),
)


def upgrade() -> None:
    """Go to this schema."""
    for table, column, is_optional in COLUMNS:
        kind = sa.Column(column, sa.BigInteger())
        if not is_optional:
            start = "1" if column == "referrers" else "0"
            kind = sa.Column(column, sa.BigInteger(), server_default=start, nullable=False)
        op.add_column(table, kind)
    op.add_column("agents", sa.Column("reopens", sa.Boolean(), server_default="0", nullable=False))
    op.create_table(
        "start_page_news",
        sa.Column("unit_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name="fk_start_page_news_unit_id"),
        sa.PrimaryKeyConstraint("unit_id", name="pk_start_page_news"),
    )


def downgrade() -> None:
    """Go back: what waited comes with the next list of its unit."""
    op.drop_table("start_page_news")
    op.drop_column("agents", "reopens")
    for table, column, _ in reversed(COLUMNS):
        op.drop_column(table, column)

"""The last split or merge of each host, and splits that are ordered for the end of a crawl."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

ORDERED = sa.text("ordered IS NOT NULL")


def upgrade() -> None:
    """Go to this schema; what is split today counts as a person's."""
    op.create_table(
        "host_splits",
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("changed_ms", sa.BigInteger()),
        sa.Column("by_setting", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("round", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("ordered", sa.Text()),
        sa.Column("pieces", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("interval_ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("ordered_by", sa.Text(), server_default="", nullable=False),
        sa.Column("ordered_ms", sa.BigInteger()),
        sa.CheckConstraint("ordered IN ('split', 'merge')", name=op.f("ck_host_splits_ordered")),
        sa.ForeignKeyConstraint(
            ["host_id"], ["hosts.id"], name=op.f("fk_host_splits_host_id_hosts")
        ),
        sa.PrimaryKeyConstraint("host_id", name=op.f("pk_host_splits")),
    )
    op.create_index(
        "ix_host_splits_ordered",
        "host_splits",
        ["host_id"],
        sqlite_where=ORDERED,
        postgresql_where=ORDERED,
    )


def downgrade() -> None:
    """Return to the former schema: every split counts as a person's, and no order waits."""
    op.drop_table("host_splits")

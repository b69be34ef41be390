"""Distances with their evidence: spread, failures, the slowest line, since when unreachable."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema. Earlier measurements have no spread; it comes with the next probe."""
    with op.batch_alter_table("host_sums") as batch:
        batch.add_column(sa.Column("first_ms", sa.BigInteger(), nullable=True))
        batch.add_column(sa.Column("spread", sa.Text(), server_default="", nullable=False))
        for name in ("failed", "slowest_ms", "slowest_bytes"):
            batch.add_column(_count(name))
    with op.batch_alter_table("distances") as batch:
        batch.add_column(sa.Column("since_ms", sa.BigInteger(), nullable=True))
        batch.add_column(sa.Column("unreachable_since_ms", sa.BigInteger(), nullable=True))
        for name in ("failed", "slowest_ms", "slowest_bytes"):
            batch.add_column(_count(name))
        for name in ("first_quartile", "median", "third_quartile"):
            batch.add_column(sa.Column(name, sa.Float(), nullable=True))
    op.execute(
        "UPDATE distances SET unreachable_since_ms = measured_ms, failed = lines"
        " WHERE ms_per_kb IS NULL"
    )


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)

"""The installation id, by which a database, its files and its agents know each other."""

from __future__ import annotations

import time
import uuid

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    table = op.create_table(
        "installation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_installation_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_installation")),
    )
    row = {"id": 1, "uuid": str(uuid.uuid4()), "created_ms": time.time_ns() // 1_000_000}
    op.bulk_insert(table, [row])


def downgrade() -> None:
    """Go back."""
    op.drop_table("installation")

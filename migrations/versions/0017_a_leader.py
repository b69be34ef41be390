"""Of several managers on one database one leads."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; there is no leader until a manager starts."""
    op.create_table(
        "managers",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("place", sa.Text(), server_default="", nullable=False),
        sa.Column("version", sa.Text(), server_default="", nullable=False),
        sa.Column("beats", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=False),
        sa.Column("seen_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_managers")),
        sa.UniqueConstraint("name", name=op.f("uq_managers_name")),
    )
    leader = op.create_table(
        "leader",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("holder", sa.Text(), server_default="", nullable=False),
        sa.Column("epoch", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("id = 1", name=op.f("ck_leader_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_leader")),
    )
    op.bulk_insert(leader, [{"id": 1}])
    op.add_column("clock", sa.Column("epoch", sa.BigInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    """Go back; every manager has its own clock again."""
    with op.batch_alter_table("clock") as batch:
        batch.drop_column("epoch")
    op.drop_table("leader")
    op.drop_table("managers")

"""The model that predicts distances, and when the predictions of a round were verified."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema. Rounds that are over never verified anything, which NULL says."""
    op.create_table(
        "distance_model",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("made_ms", sa.BigInteger(), nullable=False),
        sa.Column("report_id", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("probes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("noise", sa.Float(), nullable=False),
        sa.Column("agents", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_distance_model_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_distance_model")),
    )
    with op.batch_alter_table("rounds") as batch:
        batch.add_column(sa.Column("verified_ms", sa.BigInteger(), nullable=True))

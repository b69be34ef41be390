"""A plan may give back what another one moved."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.add_column("plans", sa.Column("undoes", sa.BigInteger(), nullable=True))
    op.create_index("ix_plans_undoes", "plans", ["undoes"])


def downgrade() -> None:
    """Go back."""
    op.drop_index("ix_plans_undoes", "plans")
    with op.batch_alter_table("plans") as batch:
        batch.drop_column("undoes")

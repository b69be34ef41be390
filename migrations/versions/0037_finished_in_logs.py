"""A flag of plain agents whose logs say which units are finished."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.add_column(
        "agents", sa.Column("says_finished", sa.Boolean(), nullable=False, server_default="0")
    )


def downgrade() -> None:
    """Go back."""
    op.drop_column("agents", "says_finished")

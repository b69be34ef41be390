"""An index of the agents whose claims are doubted: each review of a claim asks for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_index(
        "ix_agents_doubts",
        "agents",
        ["id"],
        sqlite_where=sa.text("doubts <> ''"),
        postgresql_where=sa.text("doubts <> ''"),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_index("ix_agents_doubts", "agents")

"""The withdrawn rights of an agent, and its list page by page, without reading all it has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_index("ix_rights_listed", "rights", ["agent_id", "max_transfer", "unit_id"])
    op.create_index(
        "ix_rights_withdrawn",
        "rights",
        ["agent_id"],
        sqlite_where=sa.text("withdrawn_generation IS NOT NULL"),
        postgresql_where=sa.text("withdrawn_generation IS NOT NULL"),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_index("ix_rights_withdrawn", "rights")
    op.drop_index("ix_rights_listed", "rights")

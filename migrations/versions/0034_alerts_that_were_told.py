"""Notifications of alerts, found without looking through the whole audit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

_TOLD = "substr(action, 1, 6) = 'alert.'"


def upgrade() -> None:
    """Go to this schema."""
    op.create_index(
        "ix_audit_told",
        "audit",
        ["id"],
        sqlite_where=sa.text(_TOLD),
        postgresql_where=sa.text(_TOLD),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_index("ix_audit_told", "audit")

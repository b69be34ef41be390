"""Backups, found without looking through the whole audit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

_BACKUPS = "action = 'manager.backup'"


def upgrade() -> None:
    """Go to this schema."""
    op.create_index(
        "ix_audit_backups",
        "audit",
        ["id"],
        sqlite_where=sa.text(_BACKUPS),
        postgresql_where=sa.text(_BACKUPS),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_index("ix_audit_backups", "audit")

"""The largest hosts, those that are excluded, and alerts, found without looking at all rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_index("ix_units_volume", "units", ["volume_kb", "id"])
    op.create_index("ix_units_pages", "units", ["pages", "id"])
    op.create_index(
        "ix_hosts_excluded",
        "hosts",
        ["id"],
        sqlite_where=sa.text("excluded_ms IS NOT NULL"),
        postgresql_where=sa.text("excluded_ms IS NOT NULL"),
    )
    op.create_index(
        "ix_audit_alert",
        "audit",
        ["id"],
        sqlite_where=sa.text("alert = 1"),
        postgresql_where=sa.text("alert"),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_index("ix_audit_alert", "audit")
    op.drop_index("ix_hosts_excluded", "hosts")
    op.drop_index("ix_units_pages", "units")
    op.drop_index("ix_units_volume", "units")

"""Add when rights were sent to their agents, and the clock's time beside claimed times."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

_COLUMNS = (("rights", "sent_ms"), ("holdings", "sent_ms"), ("host_sums", "clock_ms"))


def upgrade() -> None:
    """Go to this schema."""
    for table, name in _COLUMNS:
        op.add_column(table, sa.Column(name, sa.BigInteger()))


def downgrade() -> None:
    """Go back."""
    for table, name in reversed(_COLUMNS):
        op.drop_column(table, name)

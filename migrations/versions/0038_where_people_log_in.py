"""The address and the browser of sessions and of actions of people."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

_COLUMNS = ("address", "browser")


def upgrade() -> None:
    """Go to this schema. Failures were counted by name; those counts are a day old at most."""
    for table in ("sessions", "audit"):
        for name in _COLUMNS:
            op.add_column(table, sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.execute("DELETE FROM login_failures")


def downgrade() -> None:
    """Go back."""
    for table in ("audit", "sessions"):
        for name in reversed(_COLUMNS):
            op.drop_column(table, name)
    op.execute("DELETE FROM login_failures")

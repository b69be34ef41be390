"""A round orders more probes in steps; how many it did is kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    steps = sa.Column("probe_steps", sa.BigInteger(), server_default="0", nullable=False)
    op.add_column("rounds", steps)


def downgrade() -> None:
    """Return to the former schema."""
    op.drop_column("rounds", "probe_steps")

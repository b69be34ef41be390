"""After a restore no rights are granted for a while."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; nothing is held back."""
    for name in ("rounds_from", "held_until_ms"):
        column = sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)
        op.add_column("clock", column)


def downgrade() -> None:
    """Go back. Not while something is held back: the schema before knows no such time."""
    held = op.get_bind().execute(sa.text("SELECT max(held_until_ms) FROM clock")).scalar()
    last = op.get_bind().execute(sa.text("SELECT max(last_tick_ms) FROM clock")).scalar()
    if (held or 0) > (last or 0):
        raise RuntimeError("rights are held back after a restore; go down when that is over")
    with op.batch_alter_table("clock") as batch:
        for name in ("held_until_ms", "rounds_from"):
            batch.drop_column(name)

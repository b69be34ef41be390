"""Lines that no line can be, and the rounds in which an agent's claims are not believed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

_AGES = ("believed_age", "history_age")
_ODD = ("odd_lines", "odd_bytes", "odd_ms")


def upgrade() -> None:
    """Go to this schema."""
    for name in _ODD:
        op.add_column(
            "host_sums", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0")
        )
    op.add_column("agents", sa.Column("doubts", sa.Text(), nullable=False, server_default=""))
    for name in _AGES:
        op.add_column(
            "agents", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0")
        )


def downgrade() -> None:
    """Go back."""
    for name in reversed(_AGES):
        op.drop_column("agents", name)
    op.drop_column("agents", "doubts")
    for name in reversed(_ODD):
        op.drop_column("host_sums", name)

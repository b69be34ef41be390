"""Far pages of lists of hosts, walked over in an index that holds all that is asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0031"
branch_labels = None
depends_on = None

_WIDER = (
    ("ix_units_volume", "units", ["volume_kb", "id"], ["path", "host_id"]),
    ("ix_units_pages", "units", ["pages", "id"], ["path", "host_id"]),
    ("ix_units_state_id", "units", ["state", "id"], ["path", "host_id"]),
    ("ix_hosts_reversed_key", "hosts", ["reversed_key"], ["id"]),
)


def upgrade() -> None:
    """Go to this schema."""
    for name, table, columns, more in _WIDER:
        op.drop_index(name, table)
        op.create_index(name, table, columns + more)
    op.create_index(
        "ix_units_pieces",
        "units",
        ["id"],
        sqlite_where=sa.text("path <> '/'"),
        postgresql_where=sa.text("path <> '/'"),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_index("ix_units_pieces", "units")
    for name, table, columns, _ in reversed(_WIDER):
        op.drop_index(name, table)
        op.create_index(name, table, columns)

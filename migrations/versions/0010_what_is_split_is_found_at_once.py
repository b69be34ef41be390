"""Indexes of the few hosts that are split and the few pieces that rest: the tick asks for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    for name, table, columns, condition in (
        ("ix_hosts_shared", "hosts", ["id"], sa.text("shared_interval_ms IS NOT NULL")),
        (
            "ix_unit_rounds_quiet",
            "unit_rounds",
            ["round", "unit_id"],
            sa.text("quiet_ms IS NOT NULL"),
        ),
        ("ix_host_rests_until_ms", "host_rests", ["until_ms"], None),
    ):
        op.create_index(
            op.f(name), table, columns, sqlite_where=condition, postgresql_where=condition
        )

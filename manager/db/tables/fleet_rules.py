"""Tables of rules for all agents: blocked URLs and limits of politeness."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables.columns import Whole, identity, metadata, moment, text

__all__ = ["blocked_urls", "fleet_limits"]

# Lines of the block list, as history: one that was removed keeps its row.
blocked_urls: Final = sa.Table(
    "blocked_urls",
    metadata,
    identity(),
    text("pattern"),  # RE2, anywhere in a URL
    text("reason"),
    text("added_by"),
    moment("added_ms", required=True),
    text("removed_by"),
    moment("removed_ms"),
)

# One row at most; NULL: no wish, each site goes by its own settings.
fleet_limits: Final = sa.Table(
    "fleet_limits",
    metadata,
    sa.Column("id", sa.Integer(), primary_key=True),
    sa.Column("interval_s", sa.Float()),
    sa.Column("parallel_hosts", Whole),
    sa.Column("bytes_per_s", Whole),
    sa.CheckConstraint("id = 1", name="one_row"),
)

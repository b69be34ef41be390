"""Pages of a round that other agents fetch again, and the orders to do so."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables.columns import (
    Whole,
    count,
    identity,
    message,
    metadata,
    moment,
    one_of,
    text,
)

__all__ = ["refetch_orders", "refetch_pages"]

# drawn: as its log came, at random; of an agent's pages those with the lowest ranks are kept.
# open: another agent is to fetch it. closed: compared, or no agent could fetch it.
refetch_pages: Final = sa.Table(
    "refetch_pages",
    metadata,
    identity(),
    count("round"),
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), nullable=False),  # who crawled it
    sa.Column("unit_id", Whole, sa.ForeignKey("units.id"), nullable=False),
    text("url"),
    count("rank"),
    sa.Column("status", Whole),  # as that agent logged it; NULL: no answer
    count("response_bytes"),
    text("state"),
    one_of("state", "drawn", "open", "closed"),
    sa.UniqueConstraint("round", "agent_id", "url"),
    sa.Index(None, "state", "round"),
    sa.Index(None, "unit_id"),
)

# waiting -> granted -> finished (the agent says so) -> done (its log came); or failed.
refetch_orders: Final = sa.Table(
    "refetch_orders",
    metadata,
    identity(),
    sa.Column("page_id", Whole, sa.ForeignKey("refetch_pages.id"), nullable=False),
    sa.Column("unit_id", Whole, sa.ForeignKey("units.id"), nullable=False),
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), nullable=False),  # who fetches it
    text("state"),
    moment("ordered_ms", required=True),
    moment("granted_ms"),
    moment("finished_ms"),
    sa.Column("status", Whole),
    count("response_bytes"),
    message("reason"),
    one_of("state", "waiting", "granted", "finished", "done", "failed"),
    sa.UniqueConstraint("page_id", "agent_id"),
    sa.Index(None, "agent_id", "state", "unit_id"),
    sa.Index(None, "unit_id", "state"),
)

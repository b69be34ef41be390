"""Tables of pins (a unit belongs to one agent) and bans (an agent never gets a host)."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables.columns import Whole, message, metadata, moment, text

__all__ = ["bans", "pins"]

pins: Final = sa.Table(
    "pins",
    metadata,
    sa.Column("unit_id", Whole, sa.ForeignKey("units.id"), primary_key=True, autoincrement=False),
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), nullable=False),
    message("reason"),  # what a person wrote, or ours
    text("made_by"),
    moment("made_ms", required=True),
    sa.Index(None, "agent_id", "unit_id"),
)

bans: Final = sa.Table(
    "bans",
    metadata,
    sa.Column("host_id", Whole, sa.ForeignKey("hosts.id"), primary_key=True),
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), primary_key=True),
    text("reason"),
    text("made_by"),
    moment("made_ms", required=True),
    sa.Index(None, "agent_id", "host_id"),
)

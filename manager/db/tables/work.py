"""Assignments, pins and bans, rights, probe orders and distances."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables.columns import (
    Whole,
    count,
    flag,
    identity,
    message,
    metadata,
    moment,
    one_of,
    only_row,
    partial_index,
    retired,
    text,
)

__all__ = [
    "assignments",
    "bans",
    "distance_model",
    "distances",
    "holdings",
    "host_rests",
    "pins",
    "probe_orders",
    "rights",
]


def _unit(*, key: bool = False) -> sa.Column[int]:
    return sa.Column("unit_id", Whole, sa.ForeignKey("units.id"), primary_key=key, nullable=False)


def _agent(*, key: bool = False) -> sa.Column[int]:
    return sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), primary_key=key, nullable=False)


# Intervals, only appended and closed: history and undo read them.
assignments: Final = sa.Table(
    "assignments",
    metadata,
    identity(),
    _unit(),
    _agent(),
    count("epoch"),  # counts the owners of the unit
    moment("since_ms", required=True),
    moment("until_ms"),
    retired("generation_since"),
    sa.Column("generation_until", Whole),  # retired
    message("reason_opened"),
    message("reason_closed"),
    sa.Column("plan_id", Whole),
    partial_index("uq_assignments_open", "unit_id", unique=True, where="until_ms IS NULL"),
    partial_index("ix_assignments_open_agent", "agent_id", "unit_id", where="until_ms IS NULL"),
    sa.UniqueConstraint("unit_id", "epoch"),
)

# Who may fetch a unit now: at most one row a unit, at most one agent a group.
rights: Final = sa.Table(
    "rights",
    metadata,
    _unit(key=True),
    sa.Column("group_id", Whole, nullable=False),
    _agent(),
    text("kind"),
    count("round"),
    count("max_transfer"),
    retired("epoch"),
    moment("granted_ms", required=True),
    moment("sent_ms"),  # in a list, for the first time
    count("granted_generation"),  # the first list that names it
    sa.Column("withdrawn_generation", Whole),  # the first list that no longer does
    sa.Column("news_generation", Whole),  # the first list that says something new of it
    sa.Column("continues", Whole),  # the oldest round whose queue it continues; NULL: starts again
    one_of("kind", "probe", "crawl", "refetch"),
    sa.Index(None, "group_id", "agent_id"),
    sa.Index(None, "agent_id", "unit_id"),
    # The order of a list, so that its next page is found and not sorted out.
    sa.Index("ix_rights_listed", "agent_id", "max_transfer", "unit_id"),
    # Each sync asks whether there are any; few are, for minutes.
    partial_index("ix_rights_withdrawn", "agent_id", where="withdrawn_generation IS NOT NULL"),
)

# Rights that ended: what an agent held when, which its logs are judged by.
holdings: Final = sa.Table(
    "holdings",
    metadata,
    identity(),
    _unit(),
    _agent(),
    text("kind"),
    count("round"),
    moment("since_ms", required=True),
    moment("sent_ms"),
    moment("until_ms", required=True),
    message("reason"),
    sa.Index(None, "agent_id", "until_ms"),
    sa.Index(None, "unit_id"),
)

# waiting -> granted -> finished (the agent says so) -> done (its log came); or failed.
# waiting -> not_needed, and back to waiting where a probe is ordered again.
probe_orders: Final = sa.Table(
    "probe_orders",
    metadata,
    identity(),
    count("round"),
    _unit(),
    _agent(),
    text("state"),
    moment("ordered_ms", required=True),
    moment("granted_ms"),
    moment("finished_ms"),
    count("pages"),
    message("reason"),
    flag("spare"),  # not needed where another probe of the round saw the unit whole
    one_of("state", "waiting", "granted", "finished", "done", "failed", "not_needed"),
    sa.UniqueConstraint("round", "unit_id", "agent_id"),
    sa.Index(None, "agent_id", "state", "unit_id"),
    sa.Index(None, "unit_id", "state"),
    sa.Index(None, "round", "state"),
    sa.Index(None, "agent_id", "granted_ms"),
    sa.Index(
        "ix_probe_orders_spare",
        "state",
        "id",
        sqlite_where=sa.text("spare = 1"),
        postgresql_where=sa.text("spare"),
    ),
)

distances: Final = sa.Table(
    "distances",
    metadata,
    _unit(key=True),
    _agent(key=True),
    moment("since_ms"),  # its lines are of the time from here ...
    moment("measured_ms", required=True),  # ... to here
    count("round"),
    text("kind"),
    count("lines"),
    count("bytes"),
    count("ms"),
    count("failed"),  # lines without an answer
    count("slowest_ms"),
    count("slowest_bytes"),
    sa.Column("ms_per_kb", sa.Float()),  # NULL: nothing came back, unreachable
    sa.Column("first_quartile", sa.Float()),  # of the lines with bytes, each counted once
    sa.Column("median", sa.Float()),
    sa.Column("third_quartile", sa.Float()),
    moment("unreachable_since_ms"),  # NULL: it is reachable
    one_of("kind", "probe", "crawl"),
    sa.Index(None, "agent_id", "measured_ms"),
    sa.Index(None, "measured_ms"),
    partial_index("ix_distances_unreachable", "agent_id", where="ms_per_kb IS NULL"),
)

# What a host that agents share told one of them (429, 503, Retry-After): they all rest.
host_rests: Final = sa.Table(
    "host_rests",
    metadata,
    sa.Column("host_id", Whole, sa.ForeignKey("hosts.id"), primary_key=True, nullable=False),
    _agent(key=True),
    count("rest_ms"),
    moment("until_ms", required=True),
    text("reason"),
    sa.Index(None, "until_ms"),
)

# What distances are predicted from: `manager.distance.prediction`.
distance_model: Final = sa.Table(
    "distance_model",
    metadata,
    *only_row(),
    moment("made_ms", required=True),
    count("report_id"),  # the newest that it knows of
    count("probes"),
    sa.Column("noise", sa.Float(), nullable=False),
    text("agents"),  # JSON: agent to level and loadings
)

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

"""Releases: versions, offers to agents, signed metadata, update results of sites."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables.columns import (
    Whole,
    count,
    flag,
    identity,
    metadata,
    moment,
    one_of,
    only_row,
    text,
)

__all__ = ["agent_releases", "release_metadata", "release_policy", "releases", "update_reports"]

releases: Final = sa.Table(
    "releases",
    metadata,
    identity(),
    text("version", unique=True),
    text("target"),  # the file's name in the signed targets
    text("sha256"),
    count("size_bytes"),
    text("published_by"),
    moment("published_ms", required=True),
    text("ring"),  # whom it is offered to
    moment("rolled_out_ms"),
    moment("halted_ms"),
    moment("revoked_ms"),
    one_of("ring", "none", "canary", "tenth", "all"),
)

# Signed files as they are served; all versions are kept, they are small.
release_metadata: Final = sa.Table(
    "release_metadata",
    metadata,
    sa.Column("role", sa.Text(), primary_key=True),
    sa.Column("version", Whole, primary_key=True, autoincrement=False),
    text("body"),
    moment("expires_ms", required=True),
    moment("added_ms", required=True),
    one_of("role", "root", "targets", "snapshot", "timestamp"),
)

release_policy: Final = sa.Table(
    "release_policy",
    metadata,
    *only_row(),
    text("minimum"),  # agents below it get no permit; empty: every version does
)

agent_releases: Final = sa.Table(
    "agent_releases",
    metadata,
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), primary_key=True, autoincrement=False),
    flag("canary"),  # gets releases first
    text("pin"),  # the only version it is offered; empty: as the rings say
    # The last update it reported.
    text("version"),
    text("outcome"),
    text("step"),
    text("detail"),
    moment("reported_ms"),
)

# What an agent's launcher said of updates, the newest of each agent.
update_reports: Final = sa.Table(
    "update_reports",
    metadata,
    identity(),
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), nullable=False),
    moment("at_ms", required=True),  # when it was first so, by the site's clock, never ahead
    text("version"),
    text("outcome"),
    text("step"),
    text("detail"),
    count("times", start=1),  # in a row, before it could be told
    moment("reported_ms", required=True),
    sa.UniqueConstraint("agent_id", "at_ms", "version", "outcome", "step"),
)

"""Reports of agents, the sums made from their lines, and pages that are fetched again."""

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
    text,
)

__all__ = ["activity", "directory_sums", "host_sums", "refetch_orders", "refetch_pages", "reports"]

reports: Final = sa.Table(
    "reports",
    metadata,
    identity(),
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), nullable=False),
    text("name"),
    text("sha256"),
    text("kind"),
    count("size_bytes"),
    count("lines"),
    count("quarantined"),
    moment("since_ms"),
    moment("until_ms"),
    moment("received_ms", required=True),
    text("path"),
    text("file_sha256"),  # of the file with its rows; empty: it was not read since it came
    sa.UniqueConstraint("agent_id", "sha256"),
    sa.UniqueConstraint("agent_id", "name"),
    sa.Index(None, "received_ms"),
)


def _sums() -> list[sa.Column[int]]:
    return [
        count("requests"),
        count("pages"),
        count("errors"),
        count("request_bytes"),
        count("response_bytes"),
        count("ms"),
    ]


# What an agent measured of a unit in one round, over all its logs.
host_sums: Final = sa.Table(
    "host_sums",
    metadata,
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), primary_key=True),
    sa.Column("unit_id", Whole, sa.ForeignKey("units.id"), primary_key=True),
    sa.Column("round", Whole, primary_key=True),
    sa.Column("kind", sa.Text(), primary_key=True),
    *_sums(),
    count("failed"),  # requests without an answer
    text("spread"),  # of the lines with bytes: see `manager.distance.spread`
    count("slowest_ms"),  # the line that took longest
    count("slowest_bytes"),
    moment("first_ms"),
    moment("last_ms", required=True),
    count("odd_lines"),  # that say what no line can; in none of the numbers above
    count("odd_bytes"),
    count("odd_ms"),
    count("robots_lines"),  # of robots.txt, which are no pages of a limit
    sa.Column("clock_ms", Whole),  # what the manager's clock leaves for ms; NULL: it cannot tell
    flag("with_probe"),  # a crawl that continued the agent's probe: the sums of that are in these
    one_of("kind", "probe", "crawl"),
    sa.Index(None, "round", "kind", "agent_id"),
    sa.Index(None, "unit_id"),
)

# The same for the directories of its pages: what a big host could be split by.
directory_sums: Final = sa.Table(
    "directory_sums",
    metadata,
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), primary_key=True),
    sa.Column("host_id", Whole, sa.ForeignKey("hosts.id"), primary_key=True),
    sa.Column("path", sa.Text(), primary_key=True),
    sa.Column("round", Whole, primary_key=True),
    sa.Column("kind", sa.Text(), primary_key=True),
    *_sums(),
    one_of("kind", "probe", "crawl"),
    sa.Index(None, "host_id"),
)

# What all logs together say of each hour, for how long see `manager.operations.logs.activity`.
activity: Final = sa.Table(
    "activity",
    metadata,
    sa.Column("hour_ms", Whole, primary_key=True, autoincrement=False),
    count("requests"),
    count("pages"),
    count("errors"),
    count("bytes"),
)

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
    text("kind", server_default="crawl"),  # of the line: a probe's counts with its crawl
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

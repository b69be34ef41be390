"""Hosts, their addresses, the units made of them, and start pages."""

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
    partial_index,
    text,
)

__all__ = [
    "address_rules",
    "address_seats",
    "country_files",
    "crawl_scopes",
    "host_addresses",
    "host_splits",
    "hosts",
    "start_page_news",
    "start_pages",
    "units",
]

hosts: Final = sa.Table(
    "hosts",
    metadata,
    identity(),
    text("key", unique=True),
    # Sorted by bytes on either database, so that a domain is a range of the index.
    sa.Column(
        "reversed_key",
        sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
        nullable=False,
    ),
    sa.Column("found_by", Whole),  # agent; NULL: a person
    text("referer", required=False),
    moment("first_seen_ms", required=True),
    moment("excluded_ms"),
    text("excluded_reason"),
    text("resolution"),
    moment("resolved_ms"),
    moment("resolve_after_ms"),  # NULL: not to be resolved
    count("resolve_failures"),
    message("resolve_problem"),  # of the last look-up; "": it brought an address
    text("resolve_failure"),  # the same as a code (`shared.host_failures`)
    sa.Column("group_id", Whole),  # the smallest host id of the group; NULL: no address known yet
    # A host that is split: its directories may be with several agents at once, and `shares` times
    # its interval is what each of them keeps. NULL: one agent has all of it.
    sa.Column("shared_interval_ms", Whole),
    count("shares"),  # agents that may fetch from it at once
    # Codes of the countries of its addresses, by the manager's look-up; NULL: not known.
    text("countries", required=False),
    one_of("resolution", "new", "resolved", "failed"),
    sa.Index("ix_hosts_reversed_key", "reversed_key", "id"),
    sa.Index(None, "group_id"),
    sa.Index(None, "resolve_after_ms"),
    partial_index("ix_hosts_unresolved", "id", where="resolve_failure <> ''"),
    partial_index("ix_hosts_excluded", "id", where="excluded_ms IS NOT NULL"),
    partial_index("ix_hosts_shared", "id", where="shared_interval_ms IS NOT NULL"),
)

host_addresses: Final = sa.Table(
    "host_addresses",
    metadata,
    sa.Column("host_id", Whole, sa.ForeignKey("hosts.id"), primary_key=True),
    sa.Column("source", Whole, primary_key=True),  # agent, 0: the manager
    sa.Column("address", sa.Text(), primary_key=True),
    # Registrable domain of the host. Sorted by bytes, so that the next one is a look-up.
    sa.Column(
        "domain",
        sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
        nullable=False,
        default="",
        server_default="",
    ),
    sa.Index("ix_host_addresses_address", "address", "domain"),
)

# The last split or merge of a host, and one that was ordered while it was being crawled.
host_splits: Final = sa.Table(
    "host_splits",
    metadata,
    sa.Column("host_id", Whole, sa.ForeignKey("hosts.id"), primary_key=True, autoincrement=False),
    moment("changed_ms"),  # NULL: neither yet
    flag("by_setting"),  # by prediction (`policy.splits`), not by a person
    count("round"),  # the newest one then
    flag("by_robots"),  # its robots.txt allows a shorter pause than that of one agent
    text("ordered", required=False),  # split, merge; NULL: nothing
    count("pieces"),  # of the split that is ordered
    count("interval_ms"),
    text("ordered_by"),  # a person; "": the setting
    moment("ordered_ms"),
    one_of("ordered", "split", "merge"),
    partial_index("ix_host_splits_ordered", "host_id", where="ordered IS NOT NULL"),
)

# Crawl-delays, as agents read them in robots.txt; a host without one has no row.
crawl_delays: Final = sa.Table(
    "crawl_delays",
    metadata,
    sa.Column("host_id", Whole, sa.ForeignKey("hosts.id"), primary_key=True, autoincrement=False),
    sa.Column("agent_id", Whole, primary_key=True, autoincrement=False),
    sa.Column("delay_ms", Whole, nullable=False),
    moment("seen_ms", required=True),
)

# Addresses that are shared by many sites, or were, or of which a person decided: how politeness
# counts there. single: one clock. shared: by registrable domain. merging: as shared, until only one
# agent has rights there; then single.
address_rules: Final = sa.Table(
    "address_rules",
    metadata,
    sa.Column("address", sa.Text(), primary_key=True),
    text("rule"),
    text("reason"),  # why (`manager.assignment.shared_addresses.Reason`)
    text("decided"),  # by a person: shared, single; "": by itself
    text("decided_by"),
    count("domains"),  # registrable domains when they were counted last
    count("least_ms"),  # floor of the interval of the whole address
    count("shares", start=1),  # agents that may fetch there at once
    count("number"),  # of the change; agents say up to which they have heard
    moment("changed_ms"),
    moment("counted_ms"),
    flag("is_stale"),  # hosts came since
    one_of("rule", "single", "shared", "merging"),
    sa.Index(None, "number"),
    sa.Index(None, "rule"),
)

# Agents that may be given rights at a shared address: at most `shares`.
address_seats: Final = sa.Table(
    "address_seats",
    metadata,
    sa.Column("address", sa.Text(), primary_key=True),
    sa.Column("agent_id", Whole, primary_key=True),
    moment("since_ms", required=True),
)

# new: no address yet. idle: waits for a round. probing: found during a round, being measured.
# placed: has an owner. excluded: has none, by order.
units: Final = sa.Table(
    "units",
    metadata,
    identity(),
    sa.Column("host_id", Whole, sa.ForeignKey("hosts.id"), nullable=False),
    text("path"),
    text("key", unique=True),
    text("state"),
    sa.Column("volume_kb", sa.Float()),
    sa.Column("pages", Whole),
    sa.Column("volume_round", Whole),
    count("start_pages"),
    count("dropped_pages"),  # start pages beyond the limit that were not kept
    moment("merged_ms"),  # a directory that was a unit once, and is a part of `/` again
    moment("control_ms"),  # since when all agents probe it, to be compared
    text("scope_rule"),  # the rule that excludes it from the scope of the crawl; empty: none does
    one_of("state", "new", "idle", "probing", "placed", "excluded"),
    sa.UniqueConstraint("host_id", "path"),
    # As lists of hosts are sorted, with all that is asked while millions are passed by.
    sa.Index("ix_units_state_id", "state", "id", "path", "host_id"),
    sa.Index("ix_units_volume", "volume_kb", "id", "path", "host_id"),
    sa.Index("ix_units_pages", "pages", "id", "path", "host_id"),
    partial_index("ix_units_pieces", "id", where="path <> '/'"),
    partial_index("ix_units_outside", "id", where="scope_rule <> ''"),
)

# Versions of the scope of the crawl; the newest is in force.
country_files: Final = sa.Table(
    "country_files",
    metadata,
    identity(),
    text("path"),
    text("identity"),  # size, time and inode of the database in memory; "": none
    text("kind"),  # as the file says it
    moment("built_ms"),
    message("problem"),  # of the file that lies there now; "": none
    moment("read_ms", required=True),
    count("passed_to"),  # hosts up to this number were looked up in it
    moment("passed_ms"),  # NULL: some were not yet
)

crawl_scopes: Final = sa.Table(
    "crawl_scopes",
    metadata,
    identity(),
    text("rules"),  # as people write them
    text("reason"),
    text("set_by"),
    moment("set_ms", required=True),
    count("applied_to"),  # units up to this number were opened or closed by it
    moment("applied_ms"),  # NULL: some were not yet
)

start_pages: Final = sa.Table(
    "start_pages",
    metadata,
    identity(),
    sa.Column("unit_id", Whole, sa.ForeignKey("units.id"), nullable=False),
    text("url"),
    text("referer", required=False),
    moment("found_ms", required=True),
    # Found in another piece of the same host, in this round, for which alone it counts.
    sa.Column("round", Whole),
    count("referrers", start=1),  # reports of different senders that named it
    sa.Column("found_by", Whole),  # the last agent that named it; NULL: a person
    sa.UniqueConstraint("unit_id", "url"),
)

# Units of hosts that are not split, with start pages that no list of their agents may have yet.
start_page_news: Final = sa.Table(
    "start_page_news",
    metadata,
    sa.Column("unit_id", Whole, sa.ForeignKey("units.id"), primary_key=True, autoincrement=False),
    moment("since_ms", required=True),
)

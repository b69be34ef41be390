"""Tables of the archive: arrivals, segments, hosts in segments, changes."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables.columns import Whole, count, identity, metadata, moment, one_of, text

__all__ = ["archive_changes", "arrivals", "segment_hosts", "segments", "withdrawals"]

# Files that agents sent and that were taken, as they came: a repeat is known by its digest.
arrivals: Final = sa.Table(
    "arrivals",
    metadata,
    identity(),
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), nullable=False),
    text("name"),
    text("sha256"),
    count("size_bytes"),
    count("captures"),
    count("strangers"),  # of hosts that the agent did not hold: set aside
    count("withheld"),  # noindex, noarchive: kept and not given away
    count("refused"),  # of excluded hosts: not kept
    moment("first_ms"),
    moment("last_ms"),
    moment("received_ms", required=True),
    sa.UniqueConstraint("agent_id", "sha256"),
    sa.UniqueConstraint("agent_id", "name"),
    sa.Index(None, "received_ms"),
)

# Files of captures as they are kept. public: may be given away whole. withheld, quarantined: the
# captures of an arrival that may not. current -> withdrawn (a host of it was) -> gone (deleted).
segments: Final = sa.Table(
    "segments",
    metadata,
    identity(),
    sa.Column("arrival_id", Whole, sa.ForeignKey("arrivals.id"), nullable=False),
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), nullable=False),
    text("name", unique=True),
    text("key", unique=True),  # where it lies in the store
    text("kind"),
    text("state"),
    count("revision"),  # how often it was rewritten
    count("size_bytes"),
    text("md5"),
    text("sha1"),
    text("sha256"),
    count("index_bytes"),
    text("index_sha256"),
    count("cdxj_bytes"),  # 0: it was not read since it came
    text("cdxj_sha256"),
    count("captures"),
    moment("first_ms"),
    moment("last_ms"),
    moment("made_ms", required=True),
    moment("ended_ms"),  # when it was withdrawn
    one_of("kind", "public", "withheld", "quarantined"),
    one_of("state", "current", "withdrawn", "gone"),
    sa.Index(None, "kind", "state", "id"),
    sa.Index(None, "arrival_id"),
)

segment_hosts: Final = sa.Table(
    "segment_hosts",
    metadata,
    sa.Column("segment_id", Whole, sa.ForeignKey("segments.id"), primary_key=True),
    sa.Column("host_id", Whole, sa.ForeignKey("hosts.id"), primary_key=True),
    count("captures"),
    count("bytes"),  # of their records in the segment
    moment("first_ms", required=True),
    moment("last_ms", required=True),
    sa.Index(None, "host_id", "segment_id"),
)

# What third parties have to learn, in the order of the transactions. deleted: a tombstone.
archive_changes: Final = sa.Table(
    "archive_changes",
    metadata,
    identity(),
    moment("at_ms", required=True),
    text("what"),
    sa.Column("segment_id", Whole, sa.ForeignKey("segments.id"), nullable=False),
    text("name"),
    one_of("what", "created", "deleted"),
    sa.Index(None, "at_ms"),
)

# Hosts that were excluded, in order, so that agents drop what they have of them.
withdrawals: Final = sa.Table(
    "withdrawals",
    metadata,
    identity(),
    sa.Column("host_id", Whole, sa.ForeignKey("hosts.id"), nullable=False),
    moment("at_ms", required=True),
)

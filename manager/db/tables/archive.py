"""Arrivals, segments, hosts in segments, changes, and the verification of the kept files."""

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
    retired,
    text,
)

__all__ = [
    "archive_changes",
    "arrivals",
    "file_problems",
    "scrubs",
    "segment_hosts",
    "segments",
    "withdrawals",
]

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

# Passes over all kept files. A restarted manager continues after the cursor.
scrubs: Final = sa.Table(
    "scrubs",
    metadata,
    identity(),
    moment("begun_ms", required=True),
    moment("ended_ms"),
    retired("asked_by", sa.Text()),
    text("cursor"),  # KIND:ID of the last row whose files were read
    count("total_files"),
    count("total_bytes"),
    count("files"),
    count("bytes"),
    count("problems"),
)

# Kept files that are missing or damaged, one row each; ended_ms: it is whole again, or not needed.
file_problems: Final = sa.Table(
    "file_problems",
    metadata,
    identity(),
    text("kind"),
    text("place"),  # its path below the kept files, or its key in the object store
    text("subject"),  # the name by which people know it
    text("problem"),
    message("detail"),
    sa.Column("segment_id", Whole, sa.ForeignKey("segments.id")),
    moment("found_ms", required=True),
    moment("seen_ms", required=True),
    sa.Column("order_id", Whole),  # by which its agent was asked for it
    moment("asked_ms"),
    text("answer"),  # a word: why the agent cannot be asked, or the result
    moment("ended_ms"),
    sa.UniqueConstraint("kind", "place"),
    sa.Index(None, "ended_ms"),
    sa.Index(None, "segment_id"),
)

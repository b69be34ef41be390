"""Third parties: who is registered, their tokens, what they took, what is made for them."""

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

__all__ = ["archive_jobs", "client_tokens", "client_usage", "clients", "downloads", "job_hosts"]

clients: Final = sa.Table(
    "clients",
    metadata,
    identity(),
    text("name", unique=True),
    text("contact"),
    text("purpose"),
    text("registered_by"),
    moment("registered_ms", required=True),
    moment("disabled_ms"),
)

client_tokens: Final = sa.Table(
    "client_tokens",
    metadata,
    identity(),
    sa.Column("client_id", Whole, sa.ForeignKey("clients.id"), nullable=False),
    text("token_hash", unique=True),
    text("scopes"),  # words, separated by a space
    count("daily_bytes"),  # 0: no limit
    count("requests_per_minute"),
    text("issued_by"),
    moment("issued_ms", required=True),
    moment("expires_ms", required=True),
    moment("revoked_ms"),
    moment("last_used_ms"),
    sa.Index(None, "client_id"),
)

# What a token took, by day since 1970.
client_usage: Final = sa.Table(
    "client_usage",
    metadata,
    sa.Column("token_id", Whole, sa.ForeignKey("client_tokens.id"), primary_key=True),
    sa.Column("day", Whole, primary_key=True),
    count("requests"),
    count("bytes"),
)

# Downloads of a file or a selection by a token. A resumed one continues in its row.
downloads: Final = sa.Table(
    "downloads",
    metadata,
    identity(),
    sa.Column("token_id", Whole, sa.ForeignKey("client_tokens.id"), nullable=False),
    text("name"),
    text("state"),
    message("problem"),  # why it was cut
    count("size_bytes"),  # 0: not known before its end
    count("sent_bytes"),
    count("requests"),
    moment("begun_ms", required=True),
    moment("last_ms", required=True),
    sa.UniqueConstraint("token_id", "name"),
    one_of("state", "going", "done", "cut"),
    sa.Index(None, "last_ms"),
)

# Selections that are made as files: queued -> running -> complete | failed -> gone.
archive_jobs: Final = sa.Table(
    "archive_jobs",
    metadata,
    identity(),
    text("token", unique=True),  # its name in addresses; unguessable
    sa.Column("client_id", Whole, sa.ForeignKey("clients.id"), nullable=False),
    text("function"),
    text("query"),
    text("state"),
    moment("submitted_ms", required=True),
    moment("finished_ms"),
    count("done"),  # captures
    count("total"),
    message("problem"),
    text("name"),
    count("size_bytes"),
    text("md5"),
    text("sha1"),
    text("sha256"),
    one_of("state", "queued", "running", "complete", "failed", "gone"),
    sa.Index(None, "client_id", "id"),
    sa.Index(None, "state", "id"),
)

# Which hosts a result holds, so that it goes when one of them does.
job_hosts: Final = sa.Table(
    "job_hosts",
    metadata,
    sa.Column("job_id", Whole, sa.ForeignKey("archive_jobs.id"), primary_key=True),
    sa.Column("host_id", Whole, sa.ForeignKey("hosts.id"), primary_key=True),
    sa.Index(None, "host_id"),
)

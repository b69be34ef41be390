"""Users, their sessions, and the audit: who did what, and when."""

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
    partial_index,
    text,
)

__all__ = ["api_tokens", "audit", "login_failures", "sessions", "users"]

users: Final = sa.Table(
    "users",
    metadata,
    identity(),
    text("name", unique=True),
    text("password_hash"),
    text("role"),
    moment("created_ms", required=True),
    moment("disabled_ms"),
    one_of("role", "viewer", "operator", "admin"),
)

sessions: Final = sa.Table(
    "sessions",
    metadata,
    sa.Column("token_hash", sa.Text(), primary_key=True),
    sa.Column("user_id", Whole, sa.ForeignKey("users.id"), nullable=False, index=True),
    moment("created_ms", required=True),
    moment("expires_ms", required=True),
    text("address"),
    text("browser"),
)

# What scripts of a user show instead of a password.
api_tokens: Final = sa.Table(
    "api_tokens",
    metadata,
    identity(),
    sa.Column("user_id", Whole, sa.ForeignKey("users.id"), nullable=False, index=True),
    text("name"),
    text("token_hash", unique=True),
    text("role"),  # at most this, and at most what its user may now
    moment("created_ms", required=True),
    moment("expires_ms", required=True),
    moment("last_used_ms"),  # to the minute
    moment("revoked_ms"),
    one_of("role", "viewer", "operator", "admin"),
)

# name: `SOURCE BUCKET`; a bucket of names, so that names that are made up make no rows.
login_failures: Final = sa.Table(
    "login_failures",
    metadata,
    sa.Column("name", sa.Text(), primary_key=True),
    count("failures"),
    moment("last_ms", required=True),
)

audit: Final = sa.Table(
    "audit",
    metadata,
    identity(),
    moment("at_ms", required=True),
    text("actor_kind"),
    text("actor_name"),
    text("action"),
    text("subject"),
    text("detail"),
    text("request_id"),
    flag("alert"),
    text("address"),
    text("browser"),
    one_of("actor_kind", "user", "agent", "client", "clock", "local"),
    sa.Index(None, "at_ms"),
    sa.Index(None, "subject", "id"),
    sa.Index(
        "ix_audit_alert",
        "id",
        sqlite_where=sa.text("alert = 1"),
        postgresql_where=sa.text("alert"),
    ),
    # Sent alerts: few of many rows, and none for months without problems.
    partial_index("ix_audit_told", "id", where="substr(action, 1, 6) = 'alert.'"),
    # When the last backup was made is asked each minute.
    partial_index("ix_audit_backups", "id", where="action = 'manager.backup'"),
)

"""Tokens for scripts, silences of alerts, a block list for all agents, and where agents are."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0025"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Go to this schema; a silence that has not ended becomes a maintenance window."""
    op.create_table(
        "api_tokens",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("token_hash", sa.Text(), server_default="", nullable=False),
        sa.Column("role", sa.Text(), server_default="", nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.Column("last_used_ms", sa.BigInteger(), nullable=True),
        sa.Column("revoked_ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "role IN ('viewer', 'operator', 'admin')", name=op.f("ck_api_tokens_role")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_api_tokens_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_tokens_token_hash")),
    )
    op.create_index(op.f("ix_api_tokens_user_id"), "api_tokens", ["user_id"])
    op.create_table(
        "alert_silences",
        sa.Column("id", KEY, nullable=False),
        sa.Column("key", sa.Text(), server_default="", nullable=False),
        sa.Column("from_ms", sa.BigInteger(), nullable=False),
        sa.Column("until_ms", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("made_by", sa.Text(), server_default="", nullable=False),
        sa.Column("made_ms", sa.BigInteger(), nullable=False),
        sa.Column("ended_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_silences")),
    )
    op.create_index(op.f("ix_alert_silences_until_ms"), "alert_silences", ["until_ms"])
    op.execute(
        "INSERT INTO alert_silences (from_ms, until_ms, reason, made_ms)"
        " SELECT coalesce(last_tick_ms, 0), quiet_until_ms, 'quiet', coalesce(last_tick_ms, 0)"
        " FROM clock WHERE quiet_until_ms > coalesce(last_tick_ms, 0)"
    )
    op.create_table(
        "blocked_urls",
        sa.Column("id", KEY, nullable=False),
        sa.Column("pattern", sa.Text(), server_default="", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("added_by", sa.Text(), server_default="", nullable=False),
        sa.Column("added_ms", sa.BigInteger(), nullable=False),
        sa.Column("removed_by", sa.Text(), server_default="", nullable=False),
        sa.Column("removed_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blocked_urls")),
    )
    op.create_table(
        "fleet_limits",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("interval_s", sa.Float(), nullable=True),
        sa.Column("parallel_hosts", sa.BigInteger(), nullable=True),
        sa.Column("bytes_per_s", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("id = 1", name=op.f("ck_fleet_limits_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fleet_limits")),
    )
    op.add_column("agents", sa.Column("latitude", sa.Float(), nullable=True))
    op.add_column("agents", sa.Column("longitude", sa.Float(), nullable=True))


def downgrade() -> None:
    """Go back; tokens, silences and the block list are lost."""
    with op.batch_alter_table("agents") as batch:
        batch.drop_column("longitude")
        batch.drop_column("latitude")
    op.drop_table("fleet_limits")
    op.drop_table("blocked_urls")
    op.drop_table("alert_silences")
    op.drop_table("api_tokens")

"""Captures at the centre, and third parties who take them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "arrivals",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("sha256", sa.Text(), server_default="", nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("captures", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("strangers", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("withheld", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("refused", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("first_ms", sa.BigInteger(), nullable=True),
        sa.Column("last_ms", sa.BigInteger(), nullable=True),
        sa.Column("received_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_arrivals_agent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arrivals")),
        sa.UniqueConstraint("agent_id", "name", name=op.f("uq_arrivals_agent_id_name")),
        sa.UniqueConstraint("agent_id", "sha256", name=op.f("uq_arrivals_agent_id_sha256")),
    )
    op.create_index(op.f("ix_arrivals_received_ms"), "arrivals", ["received_ms"])
    op.create_table(
        "segments",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("arrival_id", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("key", sa.Text(), server_default="", nullable=False),
        sa.Column("kind", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("revision", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("md5", sa.Text(), server_default="", nullable=False),
        sa.Column("sha1", sa.Text(), server_default="", nullable=False),
        sa.Column("sha256", sa.Text(), server_default="", nullable=False),
        sa.Column("index_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("index_sha256", sa.Text(), server_default="", nullable=False),
        sa.Column("captures", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("first_ms", sa.BigInteger(), nullable=True),
        sa.Column("last_ms", sa.BigInteger(), nullable=True),
        sa.Column("made_ms", sa.BigInteger(), nullable=False),
        sa.Column("ended_ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "state IN ('current', 'withdrawn', 'gone')", name=op.f("ck_segments_state")
        ),
        sa.CheckConstraint(
            "kind IN ('public', 'withheld', 'quarantined')", name=op.f("ck_segments_kind")
        ),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_segments_agent_id")),
        sa.ForeignKeyConstraint(
            ["arrival_id"], ["arrivals.id"], name=op.f("fk_segments_arrival_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_segments")),
        sa.UniqueConstraint("key", name=op.f("uq_segments_key")),
        sa.UniqueConstraint("name", name=op.f("uq_segments_name")),
    )
    op.create_index(op.f("ix_segments_arrival_id"), "segments", ["arrival_id"])
    op.create_index(op.f("ix_segments_kind_state_id"), "segments", ["kind", "state", "id"])
    op.create_table(
        "segment_hosts",
        sa.Column("segment_id", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("captures", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("first_ms", sa.BigInteger(), nullable=False),
        sa.Column("last_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_segment_hosts_host_id")),
        sa.ForeignKeyConstraint(
            ["segment_id"], ["segments.id"], name=op.f("fk_segment_hosts_segment_id")
        ),
        sa.PrimaryKeyConstraint("segment_id", "host_id", name=op.f("pk_segment_hosts")),
    )
    op.create_index(
        op.f("ix_segment_hosts_host_id_segment_id"), "segment_hosts", ["host_id", "segment_id"]
    )
    op.create_table(
        "archive_changes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("what", sa.Text(), server_default="", nullable=False),
        sa.Column("segment_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("what IN ('created', 'deleted')", name=op.f("ck_archive_changes_what")),
        sa.ForeignKeyConstraint(
            ["segment_id"], ["segments.id"], name=op.f("fk_archive_changes_segment_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_archive_changes")),
    )
    op.create_index(op.f("ix_archive_changes_at_ms"), "archive_changes", ["at_ms"])
    op.create_table(
        "clients",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("contact", sa.Text(), server_default="", nullable=False),
        sa.Column("purpose", sa.Text(), server_default="", nullable=False),
        sa.Column("registered_by", sa.Text(), server_default="", nullable=False),
        sa.Column("registered_ms", sa.BigInteger(), nullable=False),
        sa.Column("disabled_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clients")),
        sa.UniqueConstraint("name", name=op.f("uq_clients_name")),
    )
    op.create_table(
        "client_tokens",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("client_id", sa.BigInteger(), nullable=False),
        sa.Column("token_hash", sa.Text(), server_default="", nullable=False),
        sa.Column("scopes", sa.Text(), server_default="", nullable=False),
        sa.Column("daily_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("requests_per_minute", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("issued_by", sa.Text(), server_default="", nullable=False),
        sa.Column("issued_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.Column("revoked_ms", sa.BigInteger(), nullable=True),
        sa.Column("last_used_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["client_id"], ["clients.id"], name=op.f("fk_client_tokens_client_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_client_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_client_tokens_token_hash")),
    )
    op.create_index(op.f("ix_client_tokens_client_id"), "client_tokens", ["client_id"])
    op.create_table(
        "client_usage",
        sa.Column("token_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.BigInteger(), nullable=False),
        sa.Column("requests", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["token_id"], ["client_tokens.id"], name=op.f("fk_client_usage_token_id")
        ),
        sa.PrimaryKeyConstraint("token_id", "day", name=op.f("pk_client_usage")),
    )
    op.create_table(
        "archive_jobs",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("token", sa.Text(), server_default="", nullable=False),
        sa.Column("client_id", sa.BigInteger(), nullable=False),
        sa.Column("function", sa.Text(), server_default="", nullable=False),
        sa.Column("query", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("submitted_ms", sa.BigInteger(), nullable=False),
        sa.Column("finished_ms", sa.BigInteger(), nullable=True),
        sa.Column("done", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("total", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("problem", sa.Text(), server_default="", nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("md5", sa.Text(), server_default="", nullable=False),
        sa.Column("sha1", sa.Text(), server_default="", nullable=False),
        sa.Column("sha256", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'complete', 'failed', 'gone')",
            name=op.f("ck_archive_jobs_state"),
        ),
        sa.ForeignKeyConstraint(
            ["client_id"], ["clients.id"], name=op.f("fk_archive_jobs_client_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_archive_jobs")),
        sa.UniqueConstraint("token", name=op.f("uq_archive_jobs_token")),
    )
    op.create_index(op.f("ix_archive_jobs_client_id_id"), "archive_jobs", ["client_id", "id"])
    op.create_index(op.f("ix_archive_jobs_state_id"), "archive_jobs", ["state", "id"])
    op.create_table(
        "job_hosts",
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_job_hosts_host_id")),
        sa.ForeignKeyConstraint(["job_id"], ["archive_jobs.id"], name=op.f("fk_job_hosts_job_id")),
        sa.PrimaryKeyConstraint("job_id", "host_id", name=op.f("pk_job_hosts")),
    )
    op.create_index(op.f("ix_job_hosts_host_id"), "job_hosts", ["host_id"])


def downgrade() -> None:
    """Go back; what the tables say of the files is lost."""
    for table in (
        "job_hosts",
        "archive_jobs",
        "client_usage",
        "client_tokens",
        "clients",
        "archive_changes",
        "segment_hosts",
        "segments",
        "arrivals",
    ):
        op.drop_table(table)

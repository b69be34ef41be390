"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "agents",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("kind", sa.Text(), server_default="", nullable=False),
        sa.Column("key_hash", sa.Text(), nullable=True),
        sa.Column("joined_ms", sa.BigInteger(), nullable=False),
        sa.Column("subscribed", sa.Boolean(), server_default="1", nullable=False),
        sa.Column("retired_ms", sa.BigInteger(), nullable=True),
        sa.Column("lost_ms", sa.BigInteger(), nullable=True),
        sa.Column("last_contact_ms", sa.BigInteger(), nullable=True),
        sa.Column("last_contact", sa.Text(), server_default="", nullable=False),
        sa.Column("last_work_ms", sa.BigInteger(), nullable=True),
        sa.Column("promised_ms", sa.BigInteger(), nullable=True),
        sa.Column("boot_id", sa.Text(), server_default="", nullable=False),
        sa.Column("sequence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("clone_ms", sa.BigInteger(), nullable=True),
        sa.Column("clone_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("version", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("state_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("skew_ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("disk_free_bytes", sa.BigInteger(), nullable=True),
        sa.Column("reports_waiting", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("counters", sa.Text(), server_default="", nullable=False),
        sa.Column("update_result", sa.Text(), server_default="", nullable=False),
        sa.Column("round_held", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("generation", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("generation_held", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("fence_generation", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("list_changed", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("list_outrun", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("list_sent_ms", sa.BigInteger(), nullable=True),
        sa.Column("list_sent_generation", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("log_since_list", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("list_limit", sa.BigInteger(), nullable=True),
        sa.Column("permit_epoch", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("rejoined", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("permit_set_ms", sa.BigInteger(), nullable=True),
        sa.Column("permit_until_ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("load_ms", sa.Float(), server_default="0", nullable=False),
        sa.Column("restart_ordered_ms", sa.BigInteger(), nullable=True),
        sa.Column("restart_handled_ms", sa.BigInteger(), nullable=True),
        sa.Column("restart_asked_ms", sa.BigInteger(), nullable=True),
        sa.Column("command_id", sa.Text(), server_default="", nullable=False),
        sa.Column("command", sa.Text(), server_default="", nullable=False),
        sa.Column("command_argument", sa.Text(), server_default="", nullable=False),
        sa.Column("command_ordered_ms", sa.BigInteger(), nullable=True),
        sa.Column("command_done_ms", sa.BigInteger(), nullable=True),
        sa.Column("discovered_day", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("discovered", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint("kind IN ('sync', 'plain')", name=op.f("ck_agents_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agents")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_agents_key_hash")),
        sa.UniqueConstraint("name", name=op.f("uq_agents_name")),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("actor_kind", sa.Text(), server_default="", nullable=False),
        sa.Column("actor_name", sa.Text(), server_default="", nullable=False),
        sa.Column("action", sa.Text(), server_default="", nullable=False),
        sa.Column("subject", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("request_id", sa.Text(), server_default="", nullable=False),
        sa.Column("alert", sa.Boolean(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "actor_kind IN ('user', 'agent', 'clock', 'local')", name=op.f("ck_audit_actor_kind")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_at_ms"), ["at_ms"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_subject_id"), ["subject", "id"], unique=False)

    op.create_table(
        "clock",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("last_tick_ms", sa.BigInteger(), nullable=True),
        sa.Column("ticks", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_clock_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clock")),
    )
    op.create_table(
        "hosts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "reversed_key",
            sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("found_by", sa.BigInteger(), nullable=True),
        sa.Column("referer", sa.Text(), nullable=True),
        sa.Column("first_seen_ms", sa.BigInteger(), nullable=False),
        sa.Column("excluded_ms", sa.BigInteger(), nullable=True),
        sa.Column("excluded_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("resolution", sa.Text(), server_default="", nullable=False),
        sa.Column("resolved_ms", sa.BigInteger(), nullable=True),
        sa.Column("resolve_after_ms", sa.BigInteger(), nullable=True),
        sa.Column("resolve_failures", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("resolve_problem", sa.Text(), server_default="", nullable=False),
        sa.Column("group_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "resolution IN ('new', 'resolved', 'failed')", name=op.f("ck_hosts_resolution")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hosts")),
        sa.UniqueConstraint("key", name=op.f("uq_hosts_key")),
    )
    with op.batch_alter_table("hosts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_hosts_group_id"), ["group_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_hosts_resolve_after_ms"), ["resolve_after_ms"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_hosts_reversed_key"), ["reversed_key"], unique=False)

    op.create_table(
        "join_tokens",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("token_hash", sa.Text(), server_default="", nullable=False),
        sa.Column("agent", sa.Text(), server_default="", nullable=False),
        sa.Column("issued_by", sa.Text(), server_default="", nullable=False),
        sa.Column("issued_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.Column("consumed_ms", sa.BigInteger(), nullable=True),
        sa.Column("consumed_key_hash", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_join_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_join_tokens_token_hash")),
    )
    with op.batch_alter_table("join_tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_join_tokens_agent"), ["agent"], unique=False)

    op.create_table(
        "login_failures",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("failures", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_login_failures")),
    )
    op.create_table(
        "plans",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("method", sa.Text(), server_default="", nullable=False),
        sa.Column("seed", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("made_by", sa.Text(), server_default="", nullable=False),
        sa.Column("made_ms", sa.BigInteger(), nullable=False),
        sa.Column("applied_ms", sa.BigInteger(), nullable=True),
        sa.Column("units", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("moves", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("before_ms", sa.Float(), nullable=True),
        sa.Column("makespan_ms", sa.Float(), nullable=True),
        sa.Column("bound_ms", sa.Float(), nullable=True),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plans")),
    )
    op.create_table(
        "rounds",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("method", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("probe", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("seed", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("started_by", sa.Text(), server_default="", nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=False),
        sa.Column("crawling_ms", sa.BigInteger(), nullable=True),
        sa.Column("finished_ms", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("plan_id", sa.BigInteger(), nullable=True),
        sa.Column("makespan_ms", sa.BigInteger(), nullable=True),
        sa.Column("makespan_agent", sa.Text(), server_default="", nullable=False),
        sa.Column("elapsed_ms", sa.BigInteger(), nullable=True),
        sa.Column("open", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "(open IS NOT NULL) = (state IN ('probing', 'crawling'))", name=op.f("ck_rounds_open")
        ),
        sa.CheckConstraint(
            "method IN ('random', 'keep', 'tree', 'prices')", name=op.f("ck_rounds_method")
        ),
        sa.CheckConstraint(
            "state IN ('probing', 'crawling', 'finished', 'cancelled')",
            name=op.f("ck_rounds_state"),
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_rounds")),
        sa.UniqueConstraint("open", name=op.f("uq_rounds_open")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("password_hash", sa.Text(), server_default="", nullable=False),
        sa.Column("role", sa.Text(), server_default="", nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("disabled_ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("role IN ('viewer', 'operator', 'admin')", name=op.f("ck_users_role")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("name", name=op.f("uq_users_name")),
    )
    op.create_table(
        "directory_sums",
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("round", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("requests", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("pages", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("errors", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("request_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("response_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint("kind IN ('probe', 'crawl')", name=op.f("ck_directory_sums_kind")),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["agents.id"], name=op.f("fk_directory_sums_agent_id")
        ),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_directory_sums_host_id")),
        sa.PrimaryKeyConstraint(
            "agent_id", "host_id", "path", "round", "kind", name=op.f("pk_directory_sums")
        ),
    )
    with op.batch_alter_table("directory_sums", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_directory_sums_host_id"), ["host_id"], unique=False)

    op.create_table(
        "host_addresses",
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("source", sa.BigInteger(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_host_addresses_host_id")),
        sa.PrimaryKeyConstraint("host_id", "source", "address", name=op.f("pk_host_addresses")),
    )
    with op.batch_alter_table("host_addresses", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_host_addresses_address"), ["address"], unique=False)

    op.create_table(
        "reports",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("sha256", sa.Text(), server_default="", nullable=False),
        sa.Column("kind", sa.Text(), server_default="", nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("lines", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("quarantined", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=True),
        sa.Column("until_ms", sa.BigInteger(), nullable=True),
        sa.Column("received_ms", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_reports_agent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reports")),
        sa.UniqueConstraint("agent_id", "name", name=op.f("uq_reports_agent_id_name")),
        sa.UniqueConstraint("agent_id", "sha256", name=op.f("uq_reports_agent_id_sha256")),
    )
    with op.batch_alter_table("reports", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_reports_received_ms"), ["received_ms"], unique=False)

    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions_user_id")),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sessions")),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sessions_user_id"), ["user_id"], unique=False)

    op.create_table(
        "units",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.Text(), server_default="", nullable=False),
        sa.Column("key", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("volume_kb", sa.Float(), nullable=True),
        sa.Column("pages", sa.BigInteger(), nullable=True),
        sa.Column("volume_round", sa.BigInteger(), nullable=True),
        sa.Column("start_pages", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "state IN ('new', 'idle', 'probing', 'placed', 'excluded')", name=op.f("ck_units_state")
        ),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_units_host_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_units")),
        sa.UniqueConstraint("host_id", "path", name=op.f("uq_units_host_id_path")),
        sa.UniqueConstraint("key", name=op.f("uq_units_key")),
    )
    with op.batch_alter_table("units", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_units_state_id"), ["state", "id"], unique=False)

    op.create_table(
        "assignments",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("unit_id", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
        sa.Column("until_ms", sa.BigInteger(), nullable=True),
        sa.Column("generation_since", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("generation_until", sa.BigInteger(), nullable=True),
        sa.Column("reason_opened", sa.Text(), server_default="", nullable=False),
        sa.Column("reason_closed", sa.Text(), server_default="", nullable=False),
        sa.Column("plan_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_assignments_agent_id")),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_assignments_unit_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignments")),
        sa.UniqueConstraint("unit_id", "epoch", name=op.f("uq_assignments_unit_id_epoch")),
    )
    with op.batch_alter_table("assignments", schema=None) as batch_op:
        batch_op.create_index(
            "ix_assignments_open_agent",
            ["agent_id", "unit_id"],
            unique=False,
            sqlite_where=sa.text("until_ms IS NULL"),
            postgresql_where=sa.text("until_ms IS NULL"),
        )
        batch_op.create_index(
            "uq_assignments_open",
            ["unit_id"],
            unique=True,
            sqlite_where=sa.text("until_ms IS NULL"),
            postgresql_where=sa.text("until_ms IS NULL"),
        )

    op.create_table(
        "distances",
        sa.Column("unit_id", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("measured_ms", sa.BigInteger(), nullable=False),
        sa.Column("round", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("kind", sa.Text(), server_default="", nullable=False),
        sa.Column("lines", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("ms_per_kb", sa.Float(), nullable=True),
        sa.CheckConstraint("kind IN ('probe', 'crawl')", name=op.f("ck_distances_kind")),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_distances_agent_id")),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_distances_unit_id")),
        sa.PrimaryKeyConstraint("unit_id", "agent_id", name=op.f("pk_distances")),
    )
    with op.batch_alter_table("distances", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_distances_agent_id"), ["agent_id"], unique=False)

    op.create_table(
        "holdings",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("unit_id", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), server_default="", nullable=False),
        sa.Column("round", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
        sa.Column("until_ms", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_holdings_agent_id")),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_holdings_unit_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_holdings")),
    )
    with op.batch_alter_table("holdings", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_holdings_agent_id_until_ms"), ["agent_id", "until_ms"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_holdings_unit_id"), ["unit_id"], unique=False)

    op.create_table(
        "host_sums",
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("unit_id", sa.BigInteger(), nullable=False),
        sa.Column("round", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("requests", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("pages", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("errors", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("request_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("response_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("kind IN ('probe', 'crawl')", name=op.f("ck_host_sums_kind")),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_host_sums_agent_id")),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_host_sums_unit_id")),
        sa.PrimaryKeyConstraint("agent_id", "unit_id", "round", "kind", name=op.f("pk_host_sums")),
    )
    with op.batch_alter_table("host_sums", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_host_sums_round_kind_agent_id"),
            ["round", "kind", "agent_id"],
            unique=False,
        )
        batch_op.create_index(batch_op.f("ix_host_sums_unit_id"), ["unit_id"], unique=False)

    op.create_table(
        "plan_moves",
        sa.Column("plan_id", sa.BigInteger(), nullable=False),
        sa.Column("unit_id", sa.BigInteger(), nullable=False),
        sa.Column("from_agent", sa.BigInteger(), nullable=True),
        sa.Column("to_agent", sa.BigInteger(), nullable=False),
        sa.Column("from_ms", sa.Float(), nullable=True),
        sa.Column("to_ms", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.id"], name=op.f("fk_plan_moves_plan_id")),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_plan_moves_unit_id")),
        sa.PrimaryKeyConstraint("plan_id", "unit_id", name=op.f("pk_plan_moves")),
    )
    op.create_table(
        "probe_orders",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("unit_id", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("ordered_ms", sa.BigInteger(), nullable=False),
        sa.Column("granted_ms", sa.BigInteger(), nullable=True),
        sa.Column("finished_ms", sa.BigInteger(), nullable=True),
        sa.Column("pages", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'granted', 'finished', 'done', 'failed')",
            name=op.f("ck_probe_orders_state"),
        ),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_probe_orders_agent_id")),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_probe_orders_unit_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_probe_orders")),
        sa.UniqueConstraint(
            "round", "unit_id", "agent_id", name=op.f("uq_probe_orders_round_unit_id_agent_id")
        ),
    )
    with op.batch_alter_table("probe_orders", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_probe_orders_agent_id_state_unit_id"),
            ["agent_id", "state", "unit_id"],
            unique=False,
        )
        batch_op.create_index(
            batch_op.f("ix_probe_orders_round_state"), ["round", "state"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_probe_orders_unit_id_state"), ["unit_id", "state"], unique=False
        )

    op.create_table(
        "rights",
        sa.Column("unit_id", sa.BigInteger(), nullable=False),
        sa.Column("group_id", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), server_default="", nullable=False),
        sa.Column("round", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("max_transfer", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("epoch", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("granted_ms", sa.BigInteger(), nullable=False),
        sa.Column("granted_generation", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("withdrawn_generation", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("kind IN ('probe', 'crawl')", name=op.f("ck_rights_kind")),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_rights_agent_id")),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_rights_unit_id")),
        sa.PrimaryKeyConstraint("unit_id", name=op.f("pk_rights")),
    )
    with op.batch_alter_table("rights", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_rights_agent_id_unit_id"), ["agent_id", "unit_id"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_rights_group_id_agent_id"), ["group_id", "agent_id"], unique=False
        )

    op.create_table(
        "start_pages",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("unit_id", sa.BigInteger(), nullable=False),
        sa.Column("url", sa.Text(), server_default="", nullable=False),
        sa.Column("referer", sa.Text(), nullable=True),
        sa.Column("found_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_start_pages_unit_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_start_pages")),
        sa.UniqueConstraint("unit_id", "url", name=op.f("uq_start_pages_unit_id_url")),
    )
    op.create_table(
        "unit_rounds",
        sa.Column("round", sa.BigInteger(), nullable=False),
        sa.Column("unit_id", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("pages", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("finished_ms", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'granted', 'finished', 'cancelled')",
            name=op.f("ck_unit_rounds_state"),
        ),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_unit_rounds_agent_id")),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_unit_rounds_unit_id")),
        sa.PrimaryKeyConstraint("round", "unit_id", name=op.f("pk_unit_rounds")),
    )
    with op.batch_alter_table("unit_rounds", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_unit_rounds_agent_id_state_round_unit_id"),
            ["agent_id", "state", "round", "unit_id"],
            unique=False,
        )
        batch_op.create_index(
            batch_op.f("ix_unit_rounds_round_state"), ["round", "state"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_unit_rounds_unit_id"), ["unit_id"], unique=False)


def downgrade() -> None:
    """Go back to the schema before."""
    with op.batch_alter_table("unit_rounds", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_unit_rounds_unit_id"))
        batch_op.drop_index(batch_op.f("ix_unit_rounds_round_state"))
        batch_op.drop_index(batch_op.f("ix_unit_rounds_agent_id_state_round_unit_id"))

    op.drop_table("unit_rounds")
    op.drop_table("start_pages")
    with op.batch_alter_table("rights", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rights_group_id_agent_id"))
        batch_op.drop_index(batch_op.f("ix_rights_agent_id_unit_id"))

    op.drop_table("rights")
    with op.batch_alter_table("probe_orders", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_probe_orders_unit_id_state"))
        batch_op.drop_index(batch_op.f("ix_probe_orders_round_state"))
        batch_op.drop_index(batch_op.f("ix_probe_orders_agent_id_state_unit_id"))

    op.drop_table("probe_orders")
    op.drop_table("plan_moves")
    with op.batch_alter_table("host_sums", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_host_sums_unit_id"))
        batch_op.drop_index(batch_op.f("ix_host_sums_round_kind_agent_id"))

    op.drop_table("host_sums")
    with op.batch_alter_table("holdings", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_holdings_unit_id"))
        batch_op.drop_index(batch_op.f("ix_holdings_agent_id_until_ms"))

    op.drop_table("holdings")
    with op.batch_alter_table("distances", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_distances_agent_id"))

    op.drop_table("distances")
    with op.batch_alter_table("assignments", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_assignments_open",
            sqlite_where=sa.text("until_ms IS NULL"),
            postgresql_where=sa.text("until_ms IS NULL"),
        )
        batch_op.drop_index(
            "ix_assignments_open_agent",
            sqlite_where=sa.text("until_ms IS NULL"),
            postgresql_where=sa.text("until_ms IS NULL"),
        )

    op.drop_table("assignments")
    with op.batch_alter_table("units", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_units_state_id"))

    op.drop_table("units")
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sessions_user_id"))

    op.drop_table("sessions")
    with op.batch_alter_table("reports", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_reports_received_ms"))

    op.drop_table("reports")
    with op.batch_alter_table("host_addresses", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_host_addresses_address"))

    op.drop_table("host_addresses")
    with op.batch_alter_table("directory_sums", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_directory_sums_host_id"))

    op.drop_table("directory_sums")
    op.drop_table("users")
    op.drop_table("rounds")
    op.drop_table("plans")
    op.drop_table("login_failures")
    with op.batch_alter_table("join_tokens", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_join_tokens_agent"))

    op.drop_table("join_tokens")
    with op.batch_alter_table("hosts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_hosts_reversed_key"))
        batch_op.drop_index(batch_op.f("ix_hosts_resolve_after_ms"))
        batch_op.drop_index(batch_op.f("ix_hosts_group_id"))

    op.drop_table("hosts")
    op.drop_table("clock")
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_audit_subject_id"))
        batch_op.drop_index(batch_op.f("ix_audit_at_ms"))

    op.drop_table("audit")
    op.drop_table("agents")

"""Collection: uploads, when agents are to send, and where those are that serve themselves."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

CONDITIONS = "condition IN ('full', 'difference', 'since', 'period')"
WAYS = "way IN ('push', 'pull')"


def _id() -> sa.Column[int]:
    return sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False)


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), server_default="", nullable=False) for name in names]


def _counts(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in names]


def _moments(*names: str, required: bool = False) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), nullable=not required) for name in names]


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "transfers",
        _id(),
        *_text("key"),
        *_moments("agent_id", required=True),
        *_text("filename", "sha256"),
        *_counts("size_bytes"),
        sa.Column("blocks", sa.LargeBinary(), nullable=True),
        *_text("way", "state", "gaps"),
        *_counts("received_bytes", "checks", "breaks"),
        *_moments("order_id"),
        *_text("source"),
        *_moments("next_try_ms"),
        *_counts("tries"),
        *_moments("begun_ms", "changed_ms", required=True),
        *_moments("received_ms", "ended_ms"),
        *_text("result"),
        sa.CheckConstraint(WAYS, name=op.f("ck_transfers_way")),
        sa.CheckConstraint(
            "state IN ('receiving', 'received', 'accepted', 'quarantined', 'refused', "
            "'cancelled', 'expired')",
            name=op.f("ck_transfers_state"),
        ),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_transfers_agent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_transfers")),
        sa.UniqueConstraint("key", name=op.f("uq_transfers_key")),
    )
    for columns in (["agent_id", "sha256"], ["state", "changed_ms"], ["begun_ms"]):
        op.create_index(op.f(f"ix_transfers_{'_'.join(columns)}"), "transfers", columns)
    op.create_table(
        "collection_schedules",
        _id(),
        *_moments("agent_id"),
        *_text("crontab", "zone", "condition", "way"),
        *_moments("from_ms", "until_ms"),
        *_text("made_by"),
        *_moments("made_ms", "next_ms", required=True),
        *_moments("last_ms"),
        *_text("last_result"),
        sa.CheckConstraint(CONDITIONS, name=op.f("ck_collection_schedules_condition")),
        sa.CheckConstraint(WAYS, name=op.f("ck_collection_schedules_way")),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["agents.id"], name=op.f("fk_collection_schedules_agent_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collection_schedules")),
    )
    op.create_table(
        "collection_orders",
        _id(),
        *_moments("agent_id", required=True),
        *_moments("schedule_id"),
        *_text("condition", "way"),
        *_moments("from_ms", "until_ms"),
        *_text("made_by"),
        *_moments("made_ms", required=True),
        *_text("state"),
        *_counts("tries"),
        *_moments("next_try_ms"),
        *_counts("segments", "sent_bytes"),
        *_moments("reported_ms", "ended_ms"),
        *_text("result"),
        sa.CheckConstraint(CONDITIONS, name=op.f("ck_collection_orders_condition")),
        sa.CheckConstraint(WAYS, name=op.f("ck_collection_orders_way")),
        sa.CheckConstraint(
            "state IN ('open', 'done', 'failed', 'cancelled')",
            name=op.f("ck_collection_orders_state"),
        ),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["agents.id"], name=op.f("fk_collection_orders_agent_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collection_orders")),
    )
    op.create_index(
        op.f("ix_collection_orders_agent_id_state"), "collection_orders", ["agent_id", "state"]
    )
    op.create_index(op.f("ix_collection_orders_made_ms"), "collection_orders", ["made_ms"])
    for name in ("serving_url", "serving_fingerprint"):
        op.add_column("agents", sa.Column(name, sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    """Go back; schedules and the log of transfers are lost."""
    with op.batch_alter_table("agents") as batch:
        batch.drop_column("serving_url")
        batch.drop_column("serving_fingerprint")
    op.drop_table("collection_orders")
    op.drop_table("collection_schedules")
    op.drop_table("transfers")

"""Some pages are fetched again by another agent, and compared."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def _key(name: str = "id") -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def upgrade() -> None:
    """Go to this schema; pages logged so far are not fetched again."""
    op.create_table(
        "refetch_pages",
        _key(),
        _count("round"),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("unit_id", sa.BigInteger(), nullable=False),
        _text("url"),
        _count("rank"),
        sa.Column("status", sa.BigInteger(), nullable=True),
        _count("response_bytes"),
        _text("state"),
        sa.CheckConstraint(
            "state IN ('drawn', 'open', 'closed')", name=op.f("ck_refetch_pages_state")
        ),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["agents.id"], name=op.f("fk_refetch_pages_agent_id")
        ),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_refetch_pages_unit_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_refetch_pages")),
        sa.UniqueConstraint(
            "round", "agent_id", "url", name=op.f("uq_refetch_pages_round_agent_id_url")
        ),
    )
    op.create_index(op.f("ix_refetch_pages_state_round"), "refetch_pages", ["state", "round"])
    op.create_index(op.f("ix_refetch_pages_unit_id"), "refetch_pages", ["unit_id"])
    op.create_table(
        "refetch_orders",
        _key(),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("unit_id", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        _text("state"),
        sa.Column("ordered_ms", sa.BigInteger(), nullable=False),
        sa.Column("granted_ms", sa.BigInteger(), nullable=True),
        sa.Column("finished_ms", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.BigInteger(), nullable=True),
        _count("response_bytes"),
        _text("reason"),
        sa.CheckConstraint(
            "state IN ('waiting', 'granted', 'finished', 'done', 'failed')",
            name=op.f("ck_refetch_orders_state"),
        ),
        sa.ForeignKeyConstraint(
            ["page_id"], ["refetch_pages.id"], name=op.f("fk_refetch_orders_page_id")
        ),
        sa.ForeignKeyConstraint(["unit_id"], ["units.id"], name=op.f("fk_refetch_orders_unit_id")),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["agents.id"], name=op.f("fk_refetch_orders_agent_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_refetch_orders")),
        sa.UniqueConstraint("page_id", "agent_id", name=op.f("uq_refetch_orders_page_id_agent_id")),
    )
    op.create_index(
        op.f("ix_refetch_orders_agent_id_state_unit_id"),
        "refetch_orders",
        ["agent_id", "state", "unit_id"],
    )
    op.create_index(op.f("ix_refetch_orders_unit_id_state"), "refetch_orders", ["unit_id", "state"])
    op.add_column(
        "agents", sa.Column("refetches", sa.Boolean(), server_default="0", nullable=False)
    )
    for name in ("refetch_round", "refetch_compared", "refetch_contradicted"):
        op.add_column("agents", _count(name))
    op.add_column("rounds", sa.Column("refetch_ms", sa.BigInteger(), nullable=True))
    with op.batch_alter_table("rights") as batch:
        batch.drop_constraint(op.f("ck_rights_kind"), type_="check")
        batch.create_check_constraint(
            op.f("ck_rights_kind"), "kind IN ('probe', 'crawl', 'refetch')"
        )


def downgrade() -> None:
    """Go back; the comparisons are lost."""
    op.execute("DELETE FROM rights WHERE kind = 'refetch'")
    with op.batch_alter_table("rights") as batch:
        batch.drop_constraint(op.f("ck_rights_kind"), type_="check")
        batch.create_check_constraint(op.f("ck_rights_kind"), "kind IN ('probe', 'crawl')")
    with op.batch_alter_table("rounds") as batch:
        batch.drop_column("refetch_ms")
    with op.batch_alter_table("agents") as batch:
        for name in ("refetch_contradicted", "refetch_compared", "refetch_round", "refetches"):
            batch.drop_column(name)
    op.drop_table("refetch_orders")
    op.drop_table("refetch_pages")

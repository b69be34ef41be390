"""Scope of the crawl: its versions, and by which rule a unit is outside."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0049"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Go to this schema; all units are inside."""
    op.create_table(
        "crawl_scopes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("rules", sa.Text(), server_default="", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("set_by", sa.Text(), server_default="", nullable=False),
        sa.Column("set_ms", sa.BigInteger(), nullable=False),
        sa.Column("applied_to", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("applied_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crawl_scopes")),
    )
    op.add_column("units", sa.Column("scope_rule", sa.Text(), server_default="", nullable=False))
    op.create_index(
        "ix_units_outside",
        "units",
        ["id"],
        sqlite_where=sa.text("scope_rule <> ''"),
        postgresql_where=sa.text("scope_rule <> ''"),
    )


def downgrade() -> None:
    """Go back: units that were outside wait for a round again."""
    op.execute(
        "UPDATE units SET state = 'idle' WHERE scope_rule <> '' AND merged_ms IS NULL"
        " AND host_id IN (SELECT id FROM hosts WHERE excluded_ms IS NULL AND group_id IS NOT NULL)"
    )
    op.execute(
        "UPDATE units SET state = 'new' WHERE scope_rule <> '' AND merged_ms IS NULL"
        " AND host_id IN (SELECT id FROM hosts WHERE excluded_ms IS NULL AND group_id IS NULL)"
    )
    op.execute(
        "UPDATE hosts SET resolve_after_ms = first_seen_ms WHERE resolve_after_ms IS NULL"
        " AND id IN (SELECT host_id FROM units WHERE scope_rule <> '' AND path = '/')"
    )
    op.drop_index("ix_units_outside", "units")
    op.drop_column("units", "scope_rule")
    op.drop_table("crawl_scopes")

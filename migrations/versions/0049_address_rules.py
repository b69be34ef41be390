"""Addresses that many sites share: their rules, seats of agents, the domain of each host there."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from shared.naming.registrable_domain import registrable_domain

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

BATCH = 5_000


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "address_rules",
        sa.Column("address", sa.Text(), primary_key=True),
        *(_text(name) for name in ("rule", "reason", "decided", "decided_by")),
        *(_count(name) for name in ("domains", "least_ms")),
        _count("shares", 1),
        _count("number"),
        sa.Column("changed_ms", sa.BigInteger()),
        sa.Column("counted_ms", sa.BigInteger()),
        sa.Column("is_stale", sa.Boolean(), nullable=False, server_default="0"),
        sa.CheckConstraint("rule IN ('single', 'shared', 'merging')", name="rule"),
    )
    op.create_index("ix_address_rules_number", "address_rules", ["number"])
    op.create_index("ix_address_rules_rule", "address_rules", ["rule"])
    op.create_table(
        "address_seats",
        sa.Column("address", sa.Text(), primary_key=True),
        sa.Column("agent_id", sa.BigInteger(), primary_key=True),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
    )
    op.add_column("agents", sa.Column("shared_held", sa.BigInteger()))
    bytes_sorted = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column(
        "host_addresses", sa.Column("domain", bytes_sorted, nullable=False, server_default="")
    )
    _fill_domains()
    op.drop_index("ix_host_addresses_address", "host_addresses")
    op.create_index("ix_host_addresses_address", "host_addresses", ["address", "domain"])


def downgrade() -> None:
    """Go back."""
    op.drop_index("ix_host_addresses_address", "host_addresses")
    op.create_index("ix_host_addresses_address", "host_addresses", ["address"])
    op.drop_column("host_addresses", "domain")
    op.drop_column("agents", "shared_held")
    op.drop_table("address_seats")
    op.drop_table("address_rules")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False, server_default="")


def _count(name: str, start: int = 0) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False, server_default=str(start))


def _fill_domains() -> None:
    bind = op.get_bind()
    hosts = sa.table("hosts", sa.column("id"), sa.column("key"))
    seen = sa.table("host_addresses", sa.column("host_id"), sa.column("domain"))
    update = (
        sa.update(seen)
        .where(seen.c.host_id == sa.bindparam("host"))
        .values(domain=sa.bindparam("found"))
    )
    last = 0
    while rows := bind.execute(
        sa.select(hosts.c.id, hosts.c.key)
        .where(hosts.c.id > last, sa.exists().where(seen.c.host_id == hosts.c.id))
        .order_by(hosts.c.id)
        .limit(BATCH)
    ).all():
        last = rows[-1].id
        bind.execute(
            update, [{"host": row.id, "found": registrable_domain(row.key)} for row in rows]
        )

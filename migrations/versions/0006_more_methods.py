"""Rounds by the methods that came later: default, exchange, lp."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; rounds stay as they are."""
    with op.batch_alter_table("rounds") as batch:
        batch.drop_constraint(op.f("ck_rounds_method"), type_="check")
        batch.create_check_constraint(
            op.f("ck_rounds_method"),
            "method IN ('default', 'random', 'keep', 'tree', 'exchange', 'prices', 'lp')",
        )

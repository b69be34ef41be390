"""Third parties act as well: the audit names them."""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; the rows stay as they are."""
    _allow("'user', 'agent', 'client', 'clock', 'local'")


def downgrade() -> None:
    """Go back; what third parties did is no longer in the audit."""
    op.execute("DELETE FROM audit WHERE actor_kind = 'client'")
    _allow("'user', 'agent', 'clock', 'local'")


def _allow(words: str) -> None:
    with op.batch_alter_table("audit") as batch:
        batch.drop_constraint(op.f("ck_audit_actor_kind"), type_="check")
        batch.create_check_constraint(op.f("ck_audit_actor_kind"), f"actor_kind IN ({words})")

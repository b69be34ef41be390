"""Rounds have deadlines and may overlap; a unit may be carried over into the next round."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

PROBING = sa.text("state = 'probing'")
OLD_STATES = "state IN ('waiting', 'granted', 'finished', 'cancelled', 'failed')"
NEW_STATES = "state IN ('waiting', 'granted', 'finished', 'cancelled', 'failed', 'carried')"


def upgrade() -> None:
    """Go to this schema; a round that is open stays so."""
    for name in ("until_ms", "carried_ms", "predicted_ms", "eta_ms", "eta_made_ms"):
        op.add_column("rounds", sa.Column(name, sa.BigInteger()))
    for name in ("until_share", "eta_error"):
        op.add_column("rounds", sa.Column(name, sa.Float()))
    op.create_index(
        "uq_rounds_probing",
        "rounds",
        ["state"],
        unique=True,
        sqlite_where=PROBING,
        postgresql_where=PROBING,
    )
    op.add_column("round_schedules", sa.Column("until_s", sa.BigInteger()))
    op.add_column("round_schedules", sa.Column("until_share", sa.Float()))
    op.add_column("rights", sa.Column("continues", sa.BigInteger()))
    op.add_column(
        "agents", sa.Column("unit_rounds", sa.Boolean(), server_default="0", nullable=False)
    )
    _check_states(NEW_STATES)


def downgrade() -> None:
    """Return to the former schema: carried units are cancelled, only the newest round is open."""
    bind = op.get_bind()
    bind.execute(sa.text("UPDATE unit_rounds SET state = 'cancelled' WHERE state = 'carried'"))
    bind.execute(
        sa.text(
            "UPDATE rounds SET open = NULL, state = 'cancelled', finished_ms = started_ms "
            "WHERE open IS NOT NULL AND number < (SELECT max(number) FROM rounds)"
        )
    )
    bind.execute(sa.text("UPDATE rounds SET open = 1 WHERE open IS NOT NULL"))
    _check_states(OLD_STATES)
    op.drop_column("agents", "unit_rounds")
    op.drop_column("rights", "continues")
    op.drop_column("round_schedules", "until_share")
    op.drop_column("round_schedules", "until_s")
    op.drop_index("uq_rounds_probing", "rounds")
    for name in (
        *("eta_error", "until_share", "eta_made_ms", "eta_ms"),
        *("predicted_ms", "carried_ms", "until_ms"),
    ):
        op.drop_column("rounds", name)


def _check_states(states: str) -> None:
    with op.batch_alter_table("unit_rounds") as batch:
        batch.drop_constraint(op.f("ck_unit_rounds_state"), type_="check")
        batch.create_check_constraint(op.f("ck_unit_rounds_state"), states)

"""Downloads of third parties, and their progress."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), server_default="", nullable=False) for name in names]


def _counts(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in names]


def upgrade() -> None:
    """Go to this schema; earlier downloads are in the audit only."""
    op.create_table(
        "downloads",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("token_id", sa.BigInteger(), nullable=False),
        *_text("name", "state", "problem"),
        *_counts("size_bytes", "sent_bytes", "requests"),
        sa.Column("begun_ms", sa.BigInteger(), nullable=False),
        sa.Column("last_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("state IN ('going', 'done', 'cut')", name=op.f("ck_downloads_state")),
        sa.ForeignKeyConstraint(
            ["token_id"], ["client_tokens.id"], name=op.f("fk_downloads_token_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_downloads")),
        sa.UniqueConstraint("token_id", "name", name=op.f("uq_downloads_token_id_name")),
    )
    op.create_index(op.f("ix_downloads_last_ms"), "downloads", ["last_ms"])


def downgrade() -> None:
    """Go back; downloads are in the audit only."""
    op.drop_table("downloads")

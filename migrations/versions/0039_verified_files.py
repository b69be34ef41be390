"""Verification of the kept files: passes over all of them, and the problems that were found."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "scrubs",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("begun_ms", sa.BigInteger(), nullable=False),
        sa.Column("ended_ms", sa.BigInteger(), nullable=True),
        _text("asked_by"),
        _text("cursor"),
        *(_count(name) for name in ("total_files", "total_bytes", "files", "bytes", "problems")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scrubs")),
    )
    op.create_table(
        "file_problems",
        sa.Column("id", _NUMBER, nullable=False),
        *(_text(name) for name in ("kind", "place", "subject", "problem", "detail")),
        sa.Column("segment_id", sa.BigInteger(), nullable=True),
        sa.Column("found_ms", sa.BigInteger(), nullable=False),
        sa.Column("seen_ms", sa.BigInteger(), nullable=False),
        sa.Column("order_id", sa.BigInteger(), nullable=True),
        sa.Column("asked_ms", sa.BigInteger(), nullable=True),
        _text("answer"),
        sa.Column("ended_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["segment_id"], ["segments.id"], name=op.f("fk_file_problems_segment_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file_problems")),
        sa.UniqueConstraint("kind", "place", name=op.f("uq_file_problems_kind_place")),
    )
    op.create_index(op.f("ix_file_problems_ended_ms"), "file_problems", ["ended_ms"])
    op.create_index(op.f("ix_file_problems_segment_id"), "file_problems", ["segment_id"])
    op.add_column("reports", _text("file_sha256"))


def downgrade() -> None:
    """Go back."""
    op.drop_column("reports", "file_sha256")
    op.drop_table("file_problems")
    op.drop_table("scrubs")

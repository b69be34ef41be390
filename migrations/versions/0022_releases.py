"""Releases of the agent: the signed ones, offers to agents, results at sites."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go to this schema; there is no release yet, and agents update as they did."""
    op.create_table(
        "releases",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("version", sa.Text(), server_default="", nullable=False),
        sa.Column("target", sa.Text(), server_default="", nullable=False),
        sa.Column("sha256", sa.Text(), server_default="", nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("published_by", sa.Text(), server_default="", nullable=False),
        sa.Column("published_ms", sa.BigInteger(), nullable=False),
        sa.Column("ring", sa.Text(), server_default="", nullable=False),
        sa.Column("rolled_out_ms", sa.BigInteger(), nullable=True),
        sa.Column("halted_ms", sa.BigInteger(), nullable=True),
        sa.Column("revoked_ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "ring IN ('none', 'canary', 'tenth', 'all')", name=op.f("ck_releases_ring")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_releases")),
        sa.UniqueConstraint("version", name=op.f("uq_releases_version")),
    )
    op.create_table(
        "release_metadata",
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.Column("added_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "role IN ('root', 'targets', 'snapshot', 'timestamp')",
            name=op.f("ck_release_metadata_role"),
        ),
        sa.PrimaryKeyConstraint("role", "version", name=op.f("pk_release_metadata")),
    )
    policy = op.create_table(
        "release_policy",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("minimum", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_release_policy_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_release_policy")),
    )
    op.bulk_insert(policy, [{"id": 1}])
    op.create_table(
        "agent_releases",
        sa.Column("agent_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("canary", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("pin", sa.Text(), server_default="", nullable=False),
        sa.Column("version", sa.Text(), server_default="", nullable=False),
        sa.Column("outcome", sa.Text(), server_default="", nullable=False),
        sa.Column("step", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("reported_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["agents.id"], name=op.f("fk_agent_releases_agent_id")
        ),
        sa.PrimaryKeyConstraint("agent_id", name=op.f("pk_agent_releases")),
    )


def downgrade() -> None:
    """Go back; signed releases are lost here, and are kept where they were signed."""
    op.drop_table("agent_releases")
    op.drop_table("release_policy")
    op.drop_table("release_metadata")
    op.drop_table("releases")

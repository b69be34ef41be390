"""Countries of hosts by their addresses, and the database file that names them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Go to this schema; no country is known."""
    op.add_column("hosts", sa.Column("countries", sa.Text(), nullable=True))
    op.create_table(
        "country_files",
        sa.Column("id", KEY, nullable=False),
        sa.Column("path", sa.Text(), server_default="", nullable=False),
        sa.Column("identity", sa.Text(), server_default="", nullable=False),
        sa.Column("kind", sa.Text(), server_default="", nullable=False),
        sa.Column("built_ms", sa.BigInteger(), nullable=True),
        sa.Column("problem", sa.Text(), server_default="", nullable=False),
        sa.Column("read_ms", sa.BigInteger(), nullable=False),
        sa.Column("passed_to", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("passed_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_country_files")),
    )


def downgrade() -> None:
    """Return to the former schema; units stay open or closed as they are."""
    op.drop_table("country_files")
    op.drop_column("hosts", "countries")

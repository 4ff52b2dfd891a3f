"""Networks that took long to build, kept by the digest of their descriptions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "networks",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("switches", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("cables", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_networks"),
    )


def downgrade() -> None:
    op.drop_table("networks")

"""The processes that serve the database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "processes",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("contract", sa.Integer(), nullable=False),
        sa.Column("simulator", sa.Text(), nullable=True),
        sa.Column("concurrency", sa.Integer(), nullable=True),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("heard_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_processes"),
    )


def downgrade() -> None:
    op.drop_table("processes")

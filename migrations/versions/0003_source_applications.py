"""Applications that are captured from a source tree, with their logs."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

COLUMNS: tuple[sa.Column[Any], ...] = (
    sa.Column("recipe", sa.JSON(), nullable=True),
    sa.Column("error", sa.Text(), nullable=True),
    sa.Column("claimed_by", sa.Text(), nullable=True),
    sa.Column("claimed_at", sa.Double(), nullable=True),
    sa.Column("build_log", sa.Text(), nullable=True),
    sa.Column("run_log", sa.Text(), nullable=True),
)


def upgrade() -> None:
    with op.batch_alter_table("applications") as applications:
        applications.add_column(
            sa.Column("state", sa.String(length=16), nullable=False, server_default="ready")
        )
        for column in COLUMNS:
            applications.add_column(column)


def downgrade() -> None:
    with op.batch_alter_table("applications") as applications:
        for column in reversed(COLUMNS):
            applications.drop_column(column.name)
        applications.drop_column("state")

"""How many tests of subscriptions somebody may send."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "test_allowances",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("project", sa.String(length=63), nullable=False),
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column("level", sa.Double(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("under_way", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_test_allowances"),
    )
    op.create_index(
        "ix_test_allowances_project_principal",
        "test_allowances",
        ["project", "principal"],
        unique=True,
    )


def downgrade() -> None:
    op.drop_table("test_allowances")

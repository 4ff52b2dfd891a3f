"""What people write on jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("note", sa.Text(), nullable=False, server_default=""))
    op.add_column("jobs", sa.Column("tags", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    with op.batch_alter_table("jobs") as rows:
        rows.drop_column("tags")
        rows.drop_column("note")

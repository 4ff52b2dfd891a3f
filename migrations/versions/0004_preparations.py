"""Who is preparing a job, and when it was last heard of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    with op.batch_alter_table("jobs") as jobs:
        jobs.add_column(sa.Column("preparer", sa.Text(), nullable=True))
        jobs.add_column(sa.Column("preparer_heard_at", sa.Double(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("jobs") as jobs:
        jobs.drop_column("preparer_heard_at")
        jobs.drop_column("preparer")

"""Jobs that were deleted, and can be restored for a while."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("deleted_at", sa.Double(), nullable=True))
    op.add_column("jobs", sa.Column("restorable_until", sa.Double(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("jobs") as rows:
        rows.drop_column("restorable_until")
        rows.drop_column("deleted_at")

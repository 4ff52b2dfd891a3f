"""What runs of a captured program leave beside the trace, and how far a capture is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("applications", sa.Column("output_files", sa.JSON(), nullable=True))
    op.add_column("applications", sa.Column("capture_progress", sa.JSON(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("applications") as batch:
        batch.drop_column("capture_progress")
        batch.drop_column("output_files")

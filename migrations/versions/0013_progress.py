"""How far an evaluation under way has come."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_ADDED = ("simulated_time", "share")


def upgrade() -> None:
    for name in _ADDED:
        op.add_column("attempts", sa.Column(name, sa.Double(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("attempts") as rows:
        for name in reversed(_ADDED):
            rows.drop_column(name)

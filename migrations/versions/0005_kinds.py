"""Counting trials by kind: an index of those that are not of the search."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_NAME = "ix_trials_job_id_kind_state"
_CONDITION = "kind <> 'search'"


def upgrade() -> None:
    op.create_index(
        _NAME,
        "trials",
        ["job_id", "kind", "state"],
        sqlite_where=sa.text(_CONDITION),
        postgresql_where=sa.text(_CONDITION),
    )


def downgrade() -> None:
    op.drop_index(_NAME, "trials")

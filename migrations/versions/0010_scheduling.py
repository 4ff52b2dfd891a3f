"""Scheduling: shares, priorities and quotas of projects; priority and concurrency of jobs."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_ADDED: dict[str, list[tuple[str, sa.types.TypeEngine[Any], str | None]]] = {
    "projects": [
        ("weight", sa.Double(), "1"),
        ("priority", sa.Integer(), "0"),
        ("usage", sa.Double(), "0"),
        ("usage_at", sa.Double(), "0"),
        ("spent_trials", sa.BigInteger(), "0"),
        ("spent_cpu_seconds", sa.Double(), "0"),
        ("most_jobs", sa.Integer(), None),
        ("most_trials", sa.BigInteger(), None),
        ("most_cpu_seconds", sa.Double(), None),
        ("most_storage_bytes", sa.BigInteger(), None),
    ],
    "jobs": [
        ("priority", sa.Integer(), "0"),
        ("concurrency", sa.Integer(), None),
        ("paused_because", sa.Text(), None),
    ],
    "applications": [("stored_bytes", sa.BigInteger(), "0")],
}
"""Columns by table: name, type, and what older rows have; None where that may be null."""

# What projects have spent before; they could not have been limited by it.
_SPENT = (
    "UPDATE projects SET spent_cpu_seconds = (SELECT coalesce(sum(cpu_seconds), 0) FROM jobs"
    " WHERE jobs.project = projects.name), spent_trials = (SELECT count(*) FROM trials"
    " JOIN jobs ON jobs.id = trials.job_id WHERE jobs.project = projects.name"
    " AND trials.state IN ('completed', 'censored', 'infeasible', 'failed'))"
)


def upgrade() -> None:
    for table, columns in _ADDED.items():
        for name, kind, present in columns:
            column: sa.Column[Any] = sa.Column(
                name, kind, nullable=present is None, server_default=present
            )
            op.add_column(table, column)
    op.drop_index("ix_attempts_job_id_state", "attempts")
    op.create_index(
        "ix_attempts_job_id_state_trial_number", "attempts", ["job_id", "state", "trial_number"]
    )
    op.execute(_SPENT)


def downgrade() -> None:
    op.drop_index("ix_attempts_job_id_state_trial_number", "attempts")
    op.create_index("ix_attempts_job_id_state", "attempts", ["job_id", "state"])
    for table, columns in _ADDED.items():
        with op.batch_alter_table(table) as rows:
            for name, _, _ in columns:
                rows.drop_column(name)

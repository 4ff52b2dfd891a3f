"""Configurations that scripts propose, and trials that scripts measure."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_ID = sa.String(length=16)


def upgrade() -> None:
    op.create_table(
        "proposed_configurations",
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("configuration", sa.JSON(), nullable=False),
        sa.Column("configuration_sha256", sa.String(length=64), nullable=False),
        sa.Column("trial_number", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"],
            ["jobs.id"],
            name="fk_proposed_configurations_job_id_jobs",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("job_id", "place", name="pk_proposed_configurations"),
    )
    op.create_index(
        "ix_proposed_configurations_job_id_key",
        "proposed_configurations",
        ["job_id", "key"],
        unique=True,
    )
    op.create_table(
        "asks",
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("trial_number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt_number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("most", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id", "trial_number", "attempt_number"],
            ["attempts.job_id", "attempts.trial_number", "attempts.number"],
            name="fk_asks_attempts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("job_id", "trial_number", "attempt_number", name="pk_asks"),
    )
    op.create_index("ix_asks_job_id_key", "asks", ["job_id", "key"])


def downgrade() -> None:
    op.drop_table("asks")
    op.drop_table("proposed_configurations")

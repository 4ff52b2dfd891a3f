"""What real clusters measure of jobs: which configurations, and every run of each."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_ID = sa.String(length=16)


def upgrade() -> None:
    op.create_table(
        "measurings",
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("because", sa.Text(), nullable=True),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("cluster", sa.Text(), nullable=True),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("heard_at", sa.Double(), nullable=True),
        sa.Column("spent_seconds", sa.Double(), nullable=False),
        sa.Column("silent_seconds", sa.Double(), nullable=False),
        sa.Column("simulated_best", sa.Integer(), nullable=True),
        sa.Column("decided", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_measurings_job_id_jobs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name="pk_measurings"),
    )
    op.create_table(
        "measured_configurations",
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("trial_number", sa.Integer(), nullable=True),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("simulated", sa.Double(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.JSON(), nullable=True),
        sa.Column("plan", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["job_id"],
            ["jobs.id"],
            name="fk_measured_configurations_job_id_jobs",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("job_id", "place", name="pk_measured_configurations"),
    )
    op.create_table(
        "measured_runs",
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("cluster", sa.Text(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("doubts", sa.JSON(), nullable=False),
        sa.Column("reason", sa.JSON(), nullable=True),
        sa.Column("origin", sa.JSON(), nullable=True),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["job_id", "place"],
            ["measured_configurations.job_id", "measured_configurations.place"],
            name="fk_measured_runs_job_id_place_measured_configurations",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("job_id", "place", "number", name="pk_measured_runs"),
    )


def downgrade() -> None:
    op.drop_table("measured_runs")
    op.drop_table("measured_configurations")
    op.drop_table("measurings")

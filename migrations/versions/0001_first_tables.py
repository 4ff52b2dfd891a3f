"""First tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "applications",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("trace_sha256", sa.String(length=64), nullable=False),
        sa.Column("ranks", sa.Integer(), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_applications"),
        sa.UniqueConstraint("key", name="uq_applications_key"),
    )
    op.create_table(
        "evaluations",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("cutoff", sa.Double(), nullable=True),
        sa.Column("cpu_seconds", sa.Double(), nullable=False),
        sa.Column("wall_seconds", sa.Double(), nullable=False),
        sa.Column("peak_rss_bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("reason", sa.JSON(), nullable=True),
        sa.Column("result", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_evaluations"),
    )
    op.create_table(
        "events",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("job_id", sa.String(length=16), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_events_job_id_id", "events", ["job_id", "id"])
    op.create_table(
        "machines",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("description", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_machines"),
    )
    op.create_index("ix_machines_sha256_name", "machines", ["sha256", "name"], unique=True)
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("application_id", sa.String(length=16), nullable=True),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("lease_token", sa.Integer(), nullable=False),
        sa.Column("lease_expires_at", sa.Double(), nullable=True),
        sa.Column("lease_renewed_at", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.Column("active_seconds", sa.Double(), nullable=False),
        sa.Column("cpu_seconds", sa.Double(), nullable=False),
        sa.Column("evaluations", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("ended_because", sa.Text(), nullable=True),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("space", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["application_id"], ["applications.id"], name="fk_jobs_application_id_applications"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sa.UniqueConstraint("idempotency_key", name="uq_jobs_idempotency_key"),
    )
    op.create_index("ix_jobs_application_id", "jobs", ["application_id"])
    op.create_index("ix_jobs_state", "jobs", ["state"])
    op.create_table(
        "trials",
        sa.Column("job_id", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("configuration_sha256", sa.String(length=64), nullable=False),
        sa.Column("technique", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("cutoff", sa.Double(), nullable=True),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("cached", sa.Boolean(), nullable=False),
        sa.Column("cpu_seconds", sa.Double(), nullable=True),
        sa.Column("wall_seconds", sa.Double(), nullable=True),
        sa.Column("peak_rss_bytes", sa.BigInteger(), nullable=True),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.Column("configuration", sa.JSON(), nullable=False),
        sa.Column("reason", sa.JSON(), nullable=True),
        sa.Column("result", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_trials_job_id_jobs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "number", name="pk_trials"),
    )
    op.create_index("ix_trials_job_id_state_value", "trials", ["job_id", "state", "value"])
    op.create_table(
        "attempts",
        sa.Column("job_id", sa.String(length=16), nullable=False),
        sa.Column("trial_number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("dispatched_at", sa.Double(), nullable=False),
        sa.Column("heartbeat_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["job_id", "trial_number"],
            ["trials.job_id", "trials.number"],
            name="fk_attempts_job_id_trial_number_trials",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("job_id", "trial_number", "number", name="pk_attempts"),
    )
    op.create_index("ix_attempts_job_id_state", "attempts", ["job_id", "state"])


def downgrade() -> None:
    op.drop_index("ix_attempts_job_id_state")
    op.drop_table("attempts")
    op.drop_index("ix_trials_job_id_state_value")
    op.drop_table("trials")
    op.drop_index("ix_jobs_state")
    op.drop_index("ix_jobs_application_id")
    op.drop_table("jobs")
    op.drop_index("ix_machines_sha256_name")
    op.drop_table("machines")
    op.drop_index("ix_events_job_id_id")
    op.drop_table("events")
    op.drop_table("evaluations")
    op.drop_table("applications")

"""Who wants to hear of jobs, and what is sent to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_ID = sa.String(length=16)


def upgrade() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("id", _ID, nullable=False),
        sa.Column("project", sa.String(length=63), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("job_id", _ID, nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=True),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("pause_seconds", sa.Double(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_subscriptions_job_id_jobs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_subscriptions"),
    )
    op.create_index("ix_subscriptions_job_id", "subscriptions", ["job_id"])
    op.create_index("ix_subscriptions_project_id", "subscriptions", ["project", "id"])
    op.create_table(
        "deliveries",
        sa.Column("id", _ID, nullable=False),
        sa.Column("subscription_id", _ID, nullable=False),
        sa.Column("project", sa.String(length=63), nullable=False),
        sa.Column("job_id", _ID, nullable=True),
        sa.Column("event", sa.String(length=16), nullable=False),
        sa.Column("message", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("due_at", sa.Double(), nullable=False),
        sa.Column("next_at", sa.Double(), nullable=False),
        sa.Column("claimed_by", sa.Text(), nullable=True),
        sa.Column("claimed_until", sa.Double(), nullable=True),
        sa.Column("tried_at", sa.Double(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["subscription_id"],
            ["subscriptions.id"],
            name="fk_deliveries_subscription_id_subscriptions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
    )
    op.create_index("ix_deliveries_subscription_id_id", "deliveries", ["subscription_id", "id"])
    op.create_index("ix_deliveries_state_next_at", "deliveries", ["state", "next_at"])
    op.create_index("ix_deliveries_claimed_until", "deliveries", ["claimed_until"])


def downgrade() -> None:
    op.drop_table("deliveries")
    op.drop_table("subscriptions")

"""Which trials may be the best of their job, and which one is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    with op.batch_alter_table("trials") as trials:
        trials.add_column(
            sa.Column("inside", sa.Boolean(), nullable=False, server_default=sa.false())
        )
    with op.batch_alter_table("jobs") as jobs:
        jobs.add_column(sa.Column("best_trial", sa.Integer(), nullable=True))
        jobs.add_column(sa.Column("best_value", sa.Double(), nullable=True))
    # Which of their baselines lie inside the space is not known of old trials: none, then.
    op.execute("UPDATE trials SET inside = (kind = 'search')")
    for column, source in (("best_trial", "number"), ("best_value", "value")):
        trials_, jobs_ = sa.table("trials"), sa.table("jobs", sa.column("id"), sa.column(column))
        best: sa.Select[tuple[float]] = (
            sa.select(sa.column(source))
            .select_from(trials_)
            .where(
                sa.column("job_id") == sa.literal_column("jobs.id"),
                sa.column("inside").is_(sa.true()),
                sa.column("state") == "completed",
            )
            .order_by(sa.column("value"), sa.column("number"))
            .limit(1)
        )
        op.execute(jobs_.update().values({column: best.scalar_subquery()}))


def downgrade() -> None:
    with op.batch_alter_table("jobs") as jobs:
        jobs.drop_column("best_value")
        jobs.drop_column("best_trial")
    with op.batch_alter_table("trials") as trials:
        trials.drop_column("inside")

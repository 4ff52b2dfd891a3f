"""Projects, the keys to them, and the audit log; all there was belongs to the project `default`."""

from __future__ import annotations

import time

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_OWNED = ("applications", "machines", "jobs")


def upgrade() -> None:
    projects = op.create_table(
        "projects",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_projects"),
    )
    op.bulk_insert(projects, [{"name": "default", "created_at": time.time()}])
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("project", sa.String(length=63), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("previous_sha256", sa.String(length=64), nullable=True),
        sa.Column("previous_until", sa.Double(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=True),
        sa.Column("revoked_at", sa.Double(), nullable=True),
        sa.Column("used_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.name"], name="fk_api_keys_project_projects"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
    )
    op.create_index("ix_api_keys_project", "api_keys", ["project"])
    op.create_table(
        "audit",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("project", sa.String(length=63), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_project_id", "audit", ["project", "id"])
    for name in _OWNED:
        with op.batch_alter_table(name) as rows:
            rows.add_column(
                sa.Column("project", sa.String(length=63), nullable=False, server_default="default")
            )
            if name == "applications":
                rows.drop_constraint("uq_applications_key", type_="unique")
            elif name == "jobs":
                rows.drop_constraint("uq_jobs_idempotency_key", type_="unique")
                rows.add_column(sa.Column("owner", sa.Text(), nullable=True))
    op.drop_index("ix_machines_sha256_name", "machines")
    op.create_index("ix_applications_project_key", "applications", ["project", "key"], unique=True)
    op.create_index(
        "ix_machines_project_sha256_name", "machines", ["project", "sha256", "name"], unique=True
    )
    op.create_index(
        "ix_jobs_project_idempotency_key", "jobs", ["project", "idempotency_key"], unique=True
    )
    op.create_index("ix_jobs_project_id", "jobs", ["project", "id"])


def downgrade() -> None:
    op.drop_index("ix_jobs_project_id", "jobs")
    op.drop_index("ix_jobs_project_idempotency_key", "jobs")
    op.drop_index("ix_machines_project_sha256_name", "machines")
    op.drop_index("ix_applications_project_key", "applications")
    for name in _OWNED:
        with op.batch_alter_table(name) as rows:
            if name == "applications":
                rows.create_unique_constraint("uq_applications_key", ["key"])
            elif name == "jobs":
                rows.create_unique_constraint("uq_jobs_idempotency_key", ["idempotency_key"])
                rows.drop_column("owner")
            rows.drop_column("project")
    op.create_index("ix_machines_sha256_name", "machines", ["sha256", "name"], unique=True)
    op.drop_table("audit")
    op.drop_table("api_keys")
    op.drop_table("projects")

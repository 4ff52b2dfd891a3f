"""The tables. What a row means is told by the record of the same name in `storage.records`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from storage.identifiers import ID_LENGTH
from storage.model_base import Base, CompressedJSON, pack, table, unpack
from storage.records import DEFAULT_PROJECT

__all__ = [
    "NOT_OF_THE_SEARCH",
    "ApiKeyRow",
    "ApplicationRow",
    "AskRow",
    "AttemptRow",
    "AuditRow",
    "Base",
    "EvaluationRow",
    "EventRow",
    "JobRow",
    "MachineRow",
    "MeasuredRow",
    "MeasuredRunRow",
    "MeasuringRow",
    "OutlookRow",
    "ProcessRow",
    "ProjectRow",
    "ProposedRow",
    "TrialRow",
    "pack",
    "table",
    "unpack",
]

_DIGEST_LENGTH = 64  # SHA-256 in hexadecimal
_NAME_LENGTH = 63


def _project() -> Mapped[str]:
    """The column that tells whose a row is; see `storage.project_storage`."""
    return mapped_column(
        String(_NAME_LENGTH), default=DEFAULT_PROJECT, server_default=DEFAULT_PROJECT
    )


class ProjectRow(Base):
    """A project."""

    __tablename__ = "projects"

    name: Mapped[str] = mapped_column(String(_NAME_LENGTH), primary_key=True)
    created_at: Mapped[float]
    # Scheduling: see `storage.fair_share`.
    weight: Mapped[float] = mapped_column(default=1.0, server_default="1")
    priority: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    usage: Mapped[float] = mapped_column(default=0.0, server_default="0")
    usage_at: Mapped[float] = mapped_column(default=0.0, server_default="0")
    # Quotas: see `storage.quotas`.
    spent_trials: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    spent_cpu_seconds: Mapped[float] = mapped_column(default=0.0, server_default="0")
    most_jobs: Mapped[int | None] = mapped_column(Integer)
    most_trials: Mapped[int | None] = mapped_column(BigInteger)
    most_cpu_seconds: Mapped[float | None]
    most_storage_bytes: Mapped[int | None] = mapped_column(BigInteger)


class ApiKeyRow(Base):
    """A key, known by the digests of its secrets: of the present one, and of the one before."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    project: Mapped[str] = mapped_column(ForeignKey("projects.name"), index=True)
    name: Mapped[str]
    role: Mapped[str] = mapped_column(String(16))
    scopes: Mapped[list[str]] = mapped_column(JSON)
    sha256: Mapped[str] = mapped_column(String(_DIGEST_LENGTH))
    previous_sha256: Mapped[str | None] = mapped_column(String(_DIGEST_LENGTH))
    previous_until: Mapped[float | None]
    created_by: Mapped[str]
    created_at: Mapped[float]
    expires_at: Mapped[float | None]
    revoked_at: Mapped[float | None]
    used_at: Mapped[float | None]


class ProcessRow(Base):
    """A process that serves the database."""

    __tablename__ = "processes"

    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    version: Mapped[str]
    contract: Mapped[int] = mapped_column(Integer)
    simulator: Mapped[str | None]
    concurrency: Mapped[int | None] = mapped_column(Integer)
    started_at: Mapped[float]
    heard_at: Mapped[float]


class AuditRow(Base):
    """An entry of the audit log. It outlives the key and the project that it tells of."""

    __tablename__ = "audit"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    project: Mapped[str] = mapped_column(String(_NAME_LENGTH))
    at: Mapped[float]
    actor: Mapped[str]
    address: Mapped[str]
    action: Mapped[str]
    target: Mapped[str]
    status: Mapped[int] = mapped_column(Integer)

    __table_args__ = (Index(None, "project", "id"),)


class ApplicationRow(Base):
    """An application: a trace to replay."""

    __tablename__ = "applications"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    project: Mapped[str] = _project()
    name: Mapped[str]
    kind: Mapped[str]
    key: Mapped[str]
    trace_sha256: Mapped[str] = mapped_column(String(_DIGEST_LENGTH))
    ranks: Mapped[int] = mapped_column(Integer)
    summary: Mapped[dict[str, Any]]
    created_at: Mapped[float]
    state: Mapped[str] = mapped_column(String(16), server_default="ready")
    recipe: Mapped[dict[str, Any] | None]
    error: Mapped[str | None]
    claimed_by: Mapped[str | None]
    claimed_at: Mapped[float | None]
    stored_bytes: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    capture_progress: Mapped[dict[str, Any] | None]
    output_files: Mapped[dict[str, Any] | None] = mapped_column(deferred=True)
    # Up to megabytes that listings do not want.
    build_log: Mapped[str | None] = mapped_column(deferred=True)
    run_log: Mapped[str | None] = mapped_column(deferred=True)

    __table_args__ = (Index(None, "project", "key", unique=True),)


class MachineRow(Base):
    """A machine description under a name."""

    __tablename__ = "machines"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    project: Mapped[str] = _project()
    name: Mapped[str]
    sha256: Mapped[str] = mapped_column(String(_DIGEST_LENGTH))
    description: Mapped[dict[str, Any]]
    created_at: Mapped[float]

    __table_args__ = (Index(None, "project", "sha256", "name", unique=True),)


class JobRow(Base):
    """A job, its lease, and the sums that budgets ask for at every trial."""

    __tablename__ = "jobs"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    project: Mapped[str] = _project()
    owner: Mapped[str | None]
    name: Mapped[str]
    state: Mapped[str] = mapped_column(String(16), index=True)
    seed: Mapped[int] = mapped_column(BigInteger)
    application_id: Mapped[str | None] = mapped_column(ForeignKey("applications.id"), index=True)
    idempotency_key: Mapped[str | None]
    lease_owner: Mapped[str | None]
    lease_token: Mapped[int] = mapped_column(Integer, default=0)
    lease_expires_at: Mapped[float | None]
    lease_renewed_at: Mapped[float | None]
    preparer: Mapped[str | None]
    preparer_heard_at: Mapped[float | None]
    created_at: Mapped[float]
    started_at: Mapped[float | None]
    finished_at: Mapped[float | None]
    active_seconds: Mapped[float] = mapped_column(default=0.0)
    cpu_seconds: Mapped[float] = mapped_column(default=0.0)
    evaluations: Mapped[int] = mapped_column(Integer, default=0)
    best_trial: Mapped[int | None] = mapped_column(Integer)
    best_value: Mapped[float | None]
    error: Mapped[str | None]
    ended_because: Mapped[str | None]
    priority: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    concurrency: Mapped[int | None] = mapped_column(Integer)
    paused_because: Mapped[str | None]
    note: Mapped[str] = mapped_column(default="", server_default="")
    tags: Mapped[str] = mapped_column(default="", server_default="")
    """With a comma before, between and behind them."""
    archived_at: Mapped[float | None]
    # Set together: see `storage.trash`.
    deleted_at: Mapped[float | None]
    restorable_until: Mapped[float | None]
    spec: Mapped[dict[str, Any]]
    space: Mapped[dict[str, Any] | None]

    __table_args__ = (
        Index(None, "project", "idempotency_key", unique=True),
        Index(None, "project", "id"),
    )


NOT_OF_THE_SEARCH = "kind <> 'search'"
"""The trials of an index that leaves out the many of the search."""


class TrialRow(Base):
    """A trial. Its id is not stored: the job and the number make it."""

    __tablename__ = "trials"

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(16))
    label: Mapped[str | None]
    inside: Mapped[bool] = mapped_column(default=False)
    configuration_sha256: Mapped[str] = mapped_column(String(_DIGEST_LENGTH))
    technique: Mapped[str | None]
    state: Mapped[str] = mapped_column(String(16))
    cutoff: Mapped[float | None]
    value: Mapped[float | None]
    cached: Mapped[bool] = mapped_column(default=False)
    cpu_seconds: Mapped[float | None]
    wall_seconds: Mapped[float | None]
    peak_rss_bytes: Mapped[int | None] = mapped_column(BigInteger)
    worker: Mapped[str | None]
    created_at: Mapped[float]
    started_at: Mapped[float | None]
    finished_at: Mapped[float | None]
    configuration: Mapped[dict[str, Any]]
    reason: Mapped[dict[str, Any] | None]
    # Kilobytes that listings do not want: last in the row and read only where one trial is shown.
    result: Mapped[dict[str, Any] | None] = mapped_column(CompressedJSON, deferred=True)

    # The first serves the counts, the open trials, and the best one; the second, which is small,
    # counts by kind. The migrations give it the same condition in PostgreSQL: to name that here
    # would load PostgreSQL's dialect everywhere, a twentieth of the start of a command.
    __table_args__ = (
        Index(None, "job_id", "state", "value"),
        Index(
            None,
            "job_id",
            "kind",
            "state",
            sqlite_where=text(NOT_OF_THE_SEARCH),
        ),
    )


class AttemptRow(Base):
    """An attempt. Its id is made of job, trial number and attempt number."""

    __tablename__ = "attempts"

    job_id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    trial_number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    state: Mapped[str] = mapped_column(String(16))
    worker: Mapped[str | None]
    dispatched_at: Mapped[float]
    heartbeat_at: Mapped[float | None]
    finished_at: Mapped[float | None]
    simulated_time: Mapped[float | None]  # s, at the last heartbeat
    share: Mapped[float | None]  # of the calls that have begun

    __table_args__ = (
        ForeignKeyConstraint(
            ["job_id", "trial_number"], ["trials.job_id", "trials.number"], ondelete="CASCADE"
        ),
        # The first of a job that waits is found at once, however many do.
        Index(None, "job_id", "state", "trial_number"),
    )


class EvaluationRow(Base):
    """A cached outcome, one a key: the one that answers most."""

    __tablename__ = "evaluations"

    key: Mapped[str] = mapped_column(String(_DIGEST_LENGTH), primary_key=True)
    status: Mapped[str] = mapped_column(String(16))
    value: Mapped[float | None]
    cutoff: Mapped[float | None]
    cpu_seconds: Mapped[float]
    wall_seconds: Mapped[float]
    peak_rss_bytes: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[float]
    reason: Mapped[dict[str, Any] | None]
    result: Mapped[dict[str, Any] | None] = mapped_column(CompressedJSON)


class NetworkRow(Base):
    """A network that took long to build; its key is the digest of its description."""

    __tablename__ = "networks"

    key: Mapped[str] = mapped_column(String(_DIGEST_LENGTH), primary_key=True)
    nodes: Mapped[int]
    switches: Mapped[int]
    created_at: Mapped[float]
    cables: Mapped[dict[str, Any]] = mapped_column(CompressedJSON)


class OutlookRow(Base):
    """What the model of a job's search expected: a row for each model, not for each trial.

    Models are made the less often, the more trials they rest on: 10,000 trials have some 170.
    """

    __tablename__ = "outlooks"

    job_id: Mapped[str] = mapped_column(
        String(ID_LENGTH), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    probability: Mapped[float]
    gain: Mapped[float]


class MeasurementRow(Base):
    """What an export gained on a real cluster."""

    __tablename__ = "measurements"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    job_id: Mapped[str] = mapped_column(
        String(ID_LENGTH), ForeignKey("jobs.id", ondelete="CASCADE"), index=True
    )
    created_at: Mapped[float]
    document: Mapped[dict[str, Any]]


class MeasuringRow(Base):
    """The measuring of a job's best configurations, which comes after its search."""

    __tablename__ = "measurings"

    job_id: Mapped[str] = mapped_column(
        String(ID_LENGTH), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
    )
    state: Mapped[str] = mapped_column(String(16))
    because: Mapped[str | None]
    settings: Mapped[dict[str, Any]]
    cluster: Mapped[str | None]
    agent: Mapped[str | None]
    heard_at: Mapped[float | None]
    spent_seconds: Mapped[float] = mapped_column(default=0.0)
    silent_seconds: Mapped[float] = mapped_column(default=0.0)
    simulated_best: Mapped[int | None]
    decided: Mapped[int | None]
    created_at: Mapped[float]
    finished_at: Mapped[float | None]


class MeasuredRow(Base):
    """A configuration of a job, or a library's defaults, that is measured."""

    __tablename__ = "measured_configurations"

    job_id: Mapped[str] = mapped_column(
        String(ID_LENGTH), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
    )
    place: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    purpose: Mapped[str] = mapped_column(String(16))
    trial_number: Mapped[int | None]
    label: Mapped[str]
    simulated: Mapped[float | None]
    state: Mapped[str] = mapped_column(String(16))
    reason: Mapped[dict[str, Any] | None]
    plan: Mapped[dict[str, Any] | None]


class MeasuredRunRow(Base):
    """One run of it. Its number fences: an agent whose run was lost and given out anew has none."""

    __tablename__ = "measured_runs"

    job_id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    place: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    state: Mapped[str] = mapped_column(String(16))
    agent: Mapped[str | None]
    cluster: Mapped[str | None]
    seconds: Mapped[float | None]
    doubts: Mapped[list[str]] = mapped_column(JSON)
    reason: Mapped[dict[str, Any] | None]
    origin: Mapped[dict[str, Any] | None]
    started_at: Mapped[float]
    expires_at: Mapped[float | None]
    finished_at: Mapped[float | None]

    __table_args__ = (
        ForeignKeyConstraint(
            ["job_id", "place"],
            ["measured_configurations.job_id", "measured_configurations.place"],
            ondelete="CASCADE",
        ),
    )


class ProposedRow(Base):
    """A configuration that a script proposed; the trial that it became has its own row."""

    __tablename__ = "proposed_configurations"

    job_id: Mapped[str] = mapped_column(
        String(ID_LENGTH), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
    )
    place: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    key: Mapped[str]
    configuration: Mapped[dict[str, Any]]
    configuration_sha256: Mapped[str] = mapped_column(String(_DIGEST_LENGTH))
    trial_number: Mapped[int | None] = mapped_column(Integer)
    created_at: Mapped[float]

    __table_args__ = (Index(None, "job_id", "key", unique=True),)


class AskRow(Base):
    """An attempt that a script has, under which key it asked, and for how long."""

    __tablename__ = "asks"

    job_id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    trial_number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    attempt_number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    key: Mapped[str]
    most: Mapped[int] = mapped_column(Integer)
    expires_at: Mapped[float]

    __table_args__ = (
        ForeignKeyConstraint(
            ["job_id", "trial_number", "attempt_number"],
            ["attempts.job_id", "attempts.trial_number", "attempts.number"],
            ondelete="CASCADE",
            name="fk_asks_attempts",
        ),
        Index(None, "job_id", "key"),
    )


class EventRow(Base):
    """An entry of the log. It outlives its job, so it has no foreign key."""

    __tablename__ = "events"

    # SQLite only counts up by itself in a column of type INTEGER.
    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    job_id: Mapped[str] = mapped_column(String(ID_LENGTH))
    kind: Mapped[str] = mapped_column(String(16))
    at: Mapped[float]
    data: Mapped[dict[str, Any]]

    __table_args__ = (
        Index(None, "job_id", "id"),
        # Without this SQLite would give the id of a deleted last event out again.
        {"sqlite_autoincrement": True},
    )

"""What can be done with jobs: create, clone, pause, resume, cancel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from searchspace.collectives import called_collectives, non_commutative_reductions
from searchspace.errors import InvalidInput
from searchspace.job import JobSpec, build_space, load_job, load_new_job
from searchspace.jobspec import Reference, SourceApplication, TraceApplication, Workload
from storage.errors import Conflict, NotFound
from storage.records import Application, Job, JobState
from storage.storage import Storage
from tuner import techniques

__all__ = ["cancel", "check", "clone", "create", "merge", "pause", "resume"]

T = TypeVar("T")


def create(
    storage: Storage, document: Any, idempotency_key: str | None, *, owner: str | None = None
) -> Job:
    """Check a job file and queue the job.

    Args:
        storage: Where the job goes.
        document: The job file as plain values.
        idempotency_key: Of the client's choosing; see `Storage.create_job`.
        owner: Who submits it.

    Raises:
        InvalidInput: The job file cannot be used; the message is the one of the command line.
        Conflict: The key was used for another job.
        QuotaExceeded: The project may have no more jobs, or has used up what it may.
    """
    return _queue(storage, *check(storage, document), idempotency_key, owner)


def _queue(
    storage: Storage,
    spec: JobSpec,
    application: Application | None,
    idempotency_key: str | None,
    owner: str | None,
) -> Job:
    return storage.create_job(
        name=spec.name,
        spec=spec.canonical(),
        seed=spec.seed,
        application_id=None if application is None else application.id,
        idempotency_key=idempotency_key,
        owner=owner,
        priority=spec.priority,
        concurrency=spec.concurrency,
    )


def check(storage: Storage, document: Any) -> tuple[JobSpec, Application | None]:
    """Check a job file without queueing the job.

    What the file leaves open is as in new jobs (`load_new_job`). What it refers to by id is looked
    up now, so that a job that is accepted can be run.

    Returns:
        The job, with a description of its machine, and its application where that is stored.

    Raises:
        InvalidInput: The job file cannot be used; the message is the one of the command line.
    """
    return _complete(storage, load_new_job(document))


def _complete(storage: Storage, spec: JobSpec) -> tuple[JobSpec, Application | None]:
    """The job with all that it refers to looked up and checked."""
    # The coordinator would refuse unknown techniques too, but only when the job is at work.
    techniques.choose((), spec.techniques)
    application = None
    several = isinstance(spec.application, Workload)
    place = "applications" if several else "application"
    for part in spec.captures:
        if isinstance(part, TraceApplication | SourceApplication):
            kind = "trace" if isinstance(part, TraceApplication) else "source"
            raise InvalidInput(
                f"paths mean nothing to the service; upload the {kind} to /api/v1/applications and "
                "give its id",
                field=f"{place}.{kind}",
            )
        if isinstance(part, Reference) and part is not spec.application:
            _known(storage.get_application, part, f"{place}.id")
    if isinstance(spec.application, Reference):
        application = _known(storage.get_application, spec.application, "application.id")
    if isinstance(spec.machine, Reference):
        machine = _known(storage.get_machine, spec.machine, "machine.id")
        spec = load_job({**spec.canonical(), "machine": machine.description})
    if application is not None:
        # What a program calls that is yet to be captured is not known.
        summary = application.summary
        called = called_collectives(summary) if summary else None
        build_space(spec, application.ranks, called, non_commutative_reductions(summary))
    return spec, application


def _known(look_up: Callable[[str], T], reference: Reference, field: str) -> T:
    """What a job file refers to; something unknown is a wrong field of it, not a wrong address."""
    if not reference.id.isascii() or not reference.id.isprintable():
        raise InvalidInput(f"{reference.id!r} is not an id", field=field)
    try:
        return look_up(reference.id)
    except NotFound as error:
        raise InvalidInput(str(error), field=field) from None


def clone(
    storage: Storage,
    job_id: str,
    changes: Any,
    idempotency_key: str | None,
    *,
    owner: str | None = None,
) -> Job:
    """Queue a job with the job file of another, changed by a merge patch.

    What the other job leaves open means what it meant there.

    Raises:
        NotFound: There is no such job.
        InvalidInput: The changed job file cannot be used.
        Conflict: The key was used for another job.
    """
    job = storage.get_job(job_id)
    spec = {**job.spec, "name": job.name}
    if changes is None:
        changes = {}
    if not isinstance(changes, dict):
        raise InvalidInput("the changes must be an object of job file fields")
    changed = merge(spec, _without_protocol(changes))
    return _queue(storage, *_complete(storage, load_job(changed)), idempotency_key, owner)


def _without_protocol(changes: dict[str, Any]) -> dict[str, Any]:
    """Changes to the fluid model leave out the protocol of packets, which means nothing to it."""
    machine = changes.get("machine")
    if not isinstance(machine, dict) or machine.get("network") != "fluid":
        return changes
    return {**changes, "machine": {"protocol": None, **machine}}


def merge(target: Any, patch: Any) -> Any:
    """Apply a merge patch (RFC 7396, section 2) and return the result."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged


def pause(storage: Storage, job_id: str) -> Job:
    """Stop asking for trials; a job that is paused or pausing is left as it is.

    Raises:
        NotFound: There is no such job.
        Conflict: The job has ended or is being cancelled.
    """
    return _first_possible(
        storage, job_id, ("paused", ("queued",)), ("pausing", ("preparing", "running"))
    )


def resume(storage: Storage, job_id: str) -> Job:
    """Let a job go on; one that is queued or at work is left as it is.

    Raises:
        NotFound: There is no such job.
        Conflict: The job has ended or is being cancelled.
        QuotaExceeded: Its project has used up what it may.
    """
    job = storage.get_job(job_id)
    if job.state in ("preparing", "running"):
        return job
    if job.state in ("pausing", "paused"):
        storage.check_quotas(job.project)
    return storage.transition(job_id, "queued", expected=("paused", "pausing"))


def cancel(storage: Storage, job_id: str) -> Job:
    """End a job; a job that is cancelled or being cancelled is left as it is.

    Raises:
        NotFound: There is no such job.
        Conflict: The job has ended otherwise.
    """
    return _first_possible(
        storage,
        job_id,
        ("cancelled", ("queued", "paused")),
        ("cancelling", ("preparing", "running", "pausing")),
    )


def _first_possible(
    storage: Storage, job_id: str, *changes: tuple[JobState, tuple[JobState, ...]]
) -> Job:
    """Make the first change that starts at the job's state, which others may change meanwhile."""
    *others, last = changes
    for to, expected in others:
        try:
            return storage.transition(job_id, to, expected=expected)
        except Conflict:
            continue
    return storage.transition(job_id, last[0], expected=last[1])

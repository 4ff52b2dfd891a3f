"""What can be done with jobs: create, clone, pause, resume, cancel."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from searchspace.collectives import called_collectives, non_commutative_reductions
from searchspace.collectives.by_size import sizes_called
from searchspace.errors import InvalidInput
from searchspace.job import NEW_NETWORK, JobSpec, build_space, load_job, load_new_job, with_parts
from searchspace.jobspec import Reference, SourceApplication, TraceApplication, Workload
from storage.errors import Conflict, NotFound
from storage.records import Application, Job, JobState
from storage.view import StorageView
from tuner import techniques
from workers.sources import sources_of

__all__ = [
    "cancel",
    "check",
    "clone",
    "create",
    "file_of_clone",
    "merge",
    "pause",
    "resume",
    "slots",
]

T = TypeVar("T")


def create(
    storage: StorageView,
    document: Any,
    idempotency_key: str | None,
    *,
    owner: str | None = None,
    concurrency: int | None = None,
) -> Job:
    """Check a job file and queue the job.

    Args:
        storage: Where the job goes.
        document: The job file as plain values.
        idempotency_key: Of the client's choosing; see `ProjectJobs.create`.
        owner: Who submits it.
        concurrency: Evaluations at once where the service evaluates by itself; None: one a core.

    Raises:
        InvalidInput: The job file cannot be used; the message is the one of the command line.
        Conflict: The key was used for another job.
        QuotaExceeded: The project may have no more jobs, or has used up what it may.
    """
    at_once = slots(storage, concurrency)
    return _queue(storage, *check(storage, document), idempotency_key, owner, at_once)


def slots(storage: StorageView, concurrency: int | None) -> int:
    """How many trials are evaluated at once, by workers or by the service itself."""
    return storage.processes.worker_slots() or concurrency or os.cpu_count() or 1


def _queue(
    storage: StorageView,
    spec: JobSpec,
    application: Application | None,
    idempotency_key: str | None,
    owner: str | None,
    at_once: int,
    *,
    numbered: bool = False,
) -> Job:
    return storage.jobs.create(
        name=spec.name,
        spec=spec.with_batch(at_once).canonical(),
        seed=spec.seed,
        application_id=None if application is None else application.id,
        idempotency_key=idempotency_key,
        owner=owner,
        priority=spec.priority,
        concurrency=spec.concurrency,
        numbered=numbered,
        decided=("batch",) if spec.batch == "auto" else (),
    )


def check(storage: StorageView, document: Any) -> tuple[JobSpec, Application | None]:
    """Check a job file without queueing the job.

    What the file leaves open is as in new jobs (`load_new_job`). What it refers to by id is looked
    up now, so that a job that is accepted can be run.

    Returns:
        The job, with a description of its machine, and its application where that is stored.

    Raises:
        InvalidInput: The job file cannot be used; the message is the one of the command line.
    """
    return _complete(storage, load_new_job(document))


def _complete(storage: StorageView, spec: JobSpec) -> tuple[JobSpec, Application | None]:
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
            _known(storage.applications.get, part, f"{place}.id")
    if isinstance(spec.application, Reference):
        application = _known(storage.applications.get, spec.application, "application.id")
    if isinstance(spec.machine, Reference):
        machine = _known(storage.machines.get, spec.machine, "machine.id")
        spec = load_job({**spec.canonical(), "machine": machine.description})
    spec = with_parts(spec)
    if application is not None:
        # What a program calls that is yet to be captured is not known.
        summary = application.summary
        called = called_collectives(summary) if summary else None
        build_space(
            spec,
            application.ranks,
            called,
            non_commutative_reductions(summary),
            sizes_called(summary),
        )
    sources_of(storage, spec)
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
    storage: StorageView,
    job_id: str,
    changes: Any,
    idempotency_key: str | None,
    *,
    owner: str | None = None,
    concurrency: int | None = None,
) -> Job:
    """Queue a job with the job file of another, changed by a merge patch.

    What the other job leaves open means what it meant there; a network model that the changes clear
    is that of new jobs. A clone that the changes do not name is named after the other job, with
    the first number from 2 on that makes it a name of its own.

    Raises:
        NotFound: There is no such job.
        InvalidInput: The changed job file cannot be used.
        Conflict: The key was used for another job.
    """
    job = storage.jobs.get(job_id)
    spec = {**job.spec, "name": job.name}
    if changes is None:
        changes = {}
    if not isinstance(changes, dict):
        raise InvalidInput("the changes must be an object of job file fields")
    numbered = changes.get("name") is None
    if numbered:
        changes = {name: value for name, value in changes.items() if name != "name"}
    changed = merge(spec, _without_protocol(changes))
    if _clears_network(changes):
        changed = {**changed, "machine": {"network": NEW_NETWORK, **changed["machine"]}}
    new = _complete(storage, load_job(changed))
    at_once = slots(storage, concurrency)
    return _queue(storage, *new, idempotency_key, owner, at_once, numbered=numbered)


def file_of_clone(storage: StorageView, job_id: str) -> dict[str, Any]:
    """The job file that a clone without changes would have now.

    Raises:
        NotFound: There is no such job.
    """
    job = storage.jobs.get(job_id)
    return {**job.spec, "name": storage.jobs.free_name(job.name)}


def _without_protocol(changes: dict[str, Any]) -> dict[str, Any]:
    """Changes to the fluid model leave out the protocol of packets, which means nothing to it."""
    machine = changes.get("machine")
    if not isinstance(machine, dict) or machine.get("network") != "fluid":
        return changes
    return {**changes, "machine": {"protocol": None, **machine}}


def _clears_network(changes: dict[str, Any]) -> bool:
    """Whether changes leave the network model of a machine at its default."""
    machine = changes.get("machine")
    return isinstance(machine, dict) and "network" in machine and machine["network"] is None


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


def pause(storage: StorageView, job_id: str) -> Job:
    """Stop asking for trials; a job that is paused or pausing is left as it is.

    Raises:
        NotFound: There is no such job.
        Conflict: The job has ended or is being cancelled.
    """
    return _first_possible(
        storage, job_id, ("paused", ("queued",)), ("pausing", ("preparing", "running"))
    )


def resume(storage: StorageView, job_id: str) -> Job:
    """Let a job go on; one that is queued or at work is left as it is.

    Raises:
        NotFound: There is no such job.
        Conflict: The job has ended or is being cancelled.
        QuotaExceeded: Its project has used up what it may.
    """
    job = storage.jobs.get(job_id)
    if job.state in ("preparing", "running"):
        return job
    if job.state in ("pausing", "paused"):
        storage.projects.check_quotas(job.project)
    return storage.jobs.transition(job_id, "queued", expected=("paused", "pausing"))


def cancel(storage: StorageView, job_id: str) -> Job:
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
    storage: StorageView, job_id: str, *changes: tuple[JobState, tuple[JobState, ...]]
) -> Job:
    """Make the first change that starts at the job's state, which others may change meanwhile."""
    *others, last = changes
    for to, expected in others:
        try:
            return storage.jobs.transition(job_id, to, expected=expected)
        except Conflict:
            continue
    return storage.jobs.transition(job_id, last[0], expected=last[1])

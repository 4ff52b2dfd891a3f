"""Finished jobs that a new one learns from: which they are, and what is kept of them.

What is kept is an artifact of the new job, made once while it is prepared. So its search stays the
same when a source is deleted, and after a crash.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from searchspace.collectives import called_collectives, non_commutative_reductions
from searchspace.collectives.by_size import sizes_called
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.insight import Experience, Tried, experience_of
from searchspace.job import JobSpec, build_space
from storage.errors import NotFound, Unavailable
from storage.insights import insight_of
from storage.records import FINAL_JOB_STATES, Job, Trial
from storage.view import StorageView
from workers.host_errors import host_error
from workers.tuning_problem import read_spec

__all__ = ["sources_of", "store_experiences"]

log = logging.getLogger("hamtune.workers")

_RECENT = 200
"""Of the ended jobs of a project, so many are looked through for those like a new one."""
_MOST_LIKE = 4
_PAGE = 1000
_OF_A_RUN = ("ranks", "class", "captures", "host_speed_of_capture")
"""Fields of an application that tell runs of one program apart."""


def sources_of(share: StorageView, spec: JobSpec) -> list[Job]:
    """The finished jobs that a new job learns from.

    Args:
        share: What the job's project may see.
        spec: Of the new job, with a description of its machine.

    Returns:
        Those it names; or those most like it, best first, where it leaves that open.

    Raises:
        InvalidInput: One that it names is not there, has not ended, or found nothing.
    """
    if spec.learn_from == "none":
        return []
    if spec.learn_from == "auto":
        return _most_like(share, spec)
    return [
        _named(share, job_id, f"learn_from[{place}]")
        for place, job_id in enumerate(spec.learn_from)
    ]


def _named(share: StorageView, job_id: str, field: str) -> Job:
    if not job_id.isascii() or not job_id.isprintable():
        raise InvalidInput(f"{job_id!r} is not an id", field=field)
    try:
        job = share.jobs.get(job_id)
    except NotFound as error:
        raise InvalidInput(str(error), field=field) from None
    if job.state not in FINAL_JOB_STATES:
        raise InvalidInput(f"job {job_id} is {job.state}; wait until it has ended", field=field)
    if not _teaches(job):
        message = f"job {job_id} is {job.state} without a trial to learn from; leave it out"
        raise InvalidInput(message, field=field)
    return job


def _teaches(job: Job) -> bool:
    return job.best_value is not None and job.space is not None and job.application_id is not None


def _most_like(share: StorageView, spec: JobSpec) -> list[Job]:
    ended = share.jobs.page(state=FINAL_JOB_STATES, limit=_RECENT).items
    wanted = spec.canonical()
    found = [(_likeness(wanted, job.spec), job) for job in ended if _teaches(job)]
    alike = [one for one in found if one[0] > 0]
    # Sorting keeps the newest of equals first.
    return [job for _, job in sorted(alike, key=lambda one: -one[0])][:_MOST_LIKE]


def _likeness(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    """2 for the same program, 1 for the same machine, 3 for both, 0 for neither."""
    return 2 * int(_program(one) == _program(other)) + int(one["machine"] == other["machine"])


def _program(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {n: value for n, value in spec["application"].items() if n not in _OF_A_RUN}


def store_experiences(
    storage: StorageView, sources: Sequence[Job], *, optional: bool
) -> list[dict[str, Any]]:
    """Stores the experiences of jobs: what they have to teach.

    Args:
        storage: Where they are.
        sources: The jobs.
        optional: Whether one of which nothing can be learned is left out, and not an error.

    Returns:
        Of each that has something: `job`, `name`, `trials`, and `sha256` of the artifact.

    Raises:
        InvalidInput: What a job has stored means nothing to this version.
        NotFound: A job, or what it refers to, was deleted meanwhile.
    """
    stored = []
    for job in sources:
        try:
            found = _experience(storage, job)
        except Unavailable:
            raise  # the trials of a job must not rest on how busy a database was
        except Exception as error:
            if not optional or host_error(error) is not None:
                raise
            log.warning("nothing is learned from job %s: %s", job.id, error)
            continue
        if found is None:
            continue
        digest = storage.artifacts.put(json.dumps(found.to_json()).encode())
        stored.append(
            {"job": job.id, "name": job.name, "trials": len(found.times), "sha256": digest}
        )
    return stored


def _experience(storage: StorageView, job: Job) -> Experience | None:
    assert job.application_id is not None, "it has trials"
    spec = read_spec(storage, job)
    application = storage.applications.get(job.application_id)
    summary = application.summary
    called = called_collectives(summary)
    non_commutative = non_commutative_reductions(summary)
    sizes = sizes_called(summary)
    built = build_space(spec, application.ranks, called, non_commutative, sizes)
    known = insight_of(storage, job, spec, application)
    # What is learned are times, whatever the networks cost.
    insight = None if known is None else replace(known, terms=None)
    tried = [
        Tried(
            built.space.canonicalise(Configuration.from_json(one.configuration)),
            one.value,
            one.state == "completed",
        )
        for one in _trials(storage, job)
        if one.value is not None and one.state in ("completed", "censored")
    ]
    return experience_of(job.id, job.name, built.space, insight, tried)


def _trials(storage: StorageView, job: Job) -> list[Trial]:
    """The trials of one fidelity that are points of the job's space.

    Of one that searched on a truncated trace these are the estimates: they lie on a scale of their
    own, and the whole trace has few.
    """
    fidelity = (job.space or {}).get("fidelity") or {}
    is_estimated = fidelity.get("trace_sha256") is not None
    found: list[Trial] = []
    after = 0
    while page := storage.trials.of_job(job.id, after=after, limit=_PAGE):
        after = page[-1].number
        found += [one for one in page if _inside(one) and (one.fidelity == "low") == is_estimated]
    return found


def _inside(trial: Trial) -> bool:
    return trial.kind == "search" or (trial.kind == "baseline" and trial.inside)

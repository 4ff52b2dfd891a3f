"""What a prepared job searches, built from what is stored of it."""

from __future__ import annotations

import logging

from searchspace.collectives import called_collectives, non_commutative_reductions
from searchspace.errors import HamtuneError
from searchspace.insight import Insight, Probes
from searchspace.job import BuiltSpace, JobSpec, build_space, load_job
from searchspace.jobspec import Reference
from searchspace.mapping.permutation import PERMUTATION
from searchspace.space import SearchSpace
from storage.records import Job
from storage.storage import Storage
from storage.traces import traces_of
from tuner.comparing import MOST_RANKS
from tuner.search import Point

__all__ = [
    "insight_of",
    "is_compared",
    "is_truncated",
    "mapped_points",
    "read_job",
    "space_of",
]

log = logging.getLogger("hamtune.tuner")

_OF_MAPPINGS = ("mapping", "mapping_seed", "mappers", PERMUTATION)


def read_job(storage: Storage, job: Job) -> JobSpec:
    """The specification of a job with its machine's description in it.

    Raises:
        InvalidInput: The stored specification is not valid.
        NotFound: It refers to a machine that is not stored.
    """
    spec = load_job(job.spec)
    if isinstance(spec.machine, Reference):
        machine = storage.get_machine(spec.machine.id)
        spec = load_job({**spec.canonical(), "machine": machine.description})
    return spec


def space_of(storage: Storage, job: Job, spec: JobSpec) -> BuiltSpace:
    """The space and the baselines of a prepared job.

    Args:
        storage: Where its application is.
        job: The job.
        spec: From `read_job`.

    Raises:
        InvalidInput: The application does not fit the machine.
        NotFound: The application is gone.
    """
    assert job.application_id is not None, f"job {job.id} is not prepared"
    application = storage.get_application(job.application_id)
    summary = application.summary
    called = called_collectives(summary)
    return build_space(spec, application.ranks, called, non_commutative_reductions(summary))


def mapped_points(job: Job, space: SearchSpace) -> list[Point]:
    """The points of a space that carry what mappers made of a job's traffic, where it has any.

    They are the space's first point with the mapping written out.
    """
    first = {n: v for n, v in space.default().items() if n.split(".")[0] not in _OF_MAPPINGS}
    return [
        Point(
            space.canonicalise({**first, "mapping": PERMUTATION, PERMUTATION: made["permutation"]}),
            made["mapper"],
        )
        for made in (job.space or {}).get("mapped", ())
    ]


def insight_of(storage: Storage, job: Job, spec: JobSpec) -> Insight | None:
    """What the search of a prepared job is told of its application; None where a trace is gone."""
    assert job.application_id is not None, f"job {job.id} is not prepared"
    application = storage.get_application(job.application_id)
    machine = spec.described_machine
    try:
        return Insight(
            machine.simulated_by(machine.trial_model),
            application.ranks,
            called_collectives(application.summary),
            traces_of(storage, application),
            Probes.from_json((job.space or {}).get("probes", {})),
        )
    except HamtuneError as error:
        log.warning("the search knows nothing of the application: %s", error)
        return None


def is_compared(storage: Storage, job: Job, spec: JobSpec) -> bool:
    """Whether the best of a prepared job are evaluated by the fluid model too."""
    assert job.application_id is not None, f"job {job.id} is not prepared"
    if spec.described_machine.network != "auto":
        return False
    return storage.get_application(job.application_id).ranks <= MOST_RANKS


def is_truncated(job: Job) -> bool:
    """Whether a prepared job searches on a truncated trace."""
    fidelity = (job.space or {}).get("fidelity")
    return fidelity is not None and fidelity["trace_sha256"] is not None

"""What a prepared job searches, built from what is stored of it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

from searchspace.bills import Bills
from searchspace.collectives import called_collectives, non_commutative_reductions
from searchspace.collectives.by_size import sizes_called
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.insight import Experience
from searchspace.job import BuiltSpace, JobSpec, build_space, load_job
from searchspace.jobspec import Reference
from searchspace.mapping.permutation import PERMUTATION
from searchspace.space import SearchSpace
from searchspace.topology import FAMILIES
from storage.networks import ProjectNetworks
from storage.records import Application, Job
from storage.traces import traces_of
from storage.view import StorageView
from tuner.attended_networks import AttendedNetworks
from tuner.comparing import MOST_RANKS
from tuner.search import Point

__all__ = [
    "experiences_of",
    "is_compared",
    "is_truncated",
    "mapped_points",
    "read_job",
    "space_of",
]

log = logging.getLogger("hamtune.tuner")

_OF_MAPPINGS = ("mapping", "mapping_seed", "mappers", PERMUTATION)


def read_job(storage: StorageView, job: Job) -> JobSpec:
    """The specification of a job with its machine's description in it.

    Raises:
        InvalidInput: The stored specification is not valid.
        NotFound: It refers to a machine that is not stored.
    """
    spec = load_job(job.spec)
    if isinstance(spec.machine, Reference):
        machine = storage.machines.get(spec.machine.id)
        spec = load_job({**spec.canonical(), "machine": machine.description})
    return spec


def space_of(
    storage: StorageView, job: Job, spec: JobSpec, attend: Callable[[], object] = lambda: None
) -> BuiltSpace:
    """The space and the baselines of a prepared job.

    Args:
        storage: Where its application is.
        job: The job.
        spec: From `read_job`.
        attend: Called again and again while a network is built for its price, now or later.

    Raises:
        InvalidInput: The application does not fit the machine.
        NotFound: The application is gone, or a trace that networks to be priced are made for.
        ArtifactDamaged: Such a trace was altered.
    """
    assert job.application_id is not None, f"job {job.id} is not prepared"
    application = storage.applications.get(job.application_id)
    summary = application.summary
    called = called_collectives(summary)
    bills = _bills(storage, job, spec, application, attend)
    return build_space(
        spec,
        application.ranks,
        called,
        non_commutative_reductions(summary),
        sizes_called(summary),
        bills,
    )


def _bills(
    storage: StorageView,
    job: Job,
    spec: JobSpec,
    application: Application,
    attend: Callable[[], object],
) -> Bills | None:
    """The bills of all networks of a job that says something of their price.

    Prices decide on cutoffs and on what is asked, so that a job whose networks are made for a trace
    that is gone cannot go on: without their prices it would ask other trials than it did.
    """
    if spec.terms is None:
        return None
    listed = [item if isinstance(item, str) else item.family for item in spec.search.topology or ()]
    traffic = None
    if any(name in FAMILIES and FAMILIES[name].uses_traffic for name in listed):
        traffic = TracesTraffic(traces_of(storage, application))
    cache = AttendedNetworks(ProjectNetworks(storage.networks, job.project), attend)
    return Bills(spec.described_machine, spec.terms.parts, traffic=traffic, cache=cache)


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


def experiences_of(storage: StorageView, job: Job) -> list[Experience]:
    """What the jobs have to teach that a prepared job learns from, as it was kept for it.

    Raises:
        ArtifactMissing: It is not stored any more.
        ArtifactDamaged: It was altered.
    """
    return [
        Experience.from_json(json.loads(storage.artifacts.path(one["sha256"]).read_text()))
        for one in (job.space or {}).get("learned_from", ())
    ]


def is_compared(storage: StorageView, job: Job, spec: JobSpec) -> bool:
    """Whether the best of a prepared job are evaluated by the fluid model too."""
    assert job.application_id is not None, f"job {job.id} is not prepared"
    if spec.described_machine.network != "auto" or spec.external == "measurements":
        return False
    return storage.applications.get(job.application_id).ranks <= MOST_RANKS


def is_truncated(job: Job) -> bool:
    """Whether a prepared job searches on a truncated trace."""
    fidelity = (job.space or {}).get("fidelity")
    return fidelity is not None and fidelity["trace_sha256"] is not None

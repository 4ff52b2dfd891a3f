"""Which stages a job has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from searchspace.job import BuiltSpace
from storage.records import Trial
from storage.storage import Storage
from tuner.lease import Lease
from tuner.mapping_refiner import MappingRefiner
from tuner.scripts import ProposedByScripts
from tuner.search import Search
from tuner.source_weights import SourceWeights
from tuner.stages.comparing import Comparing
from tuner.stages.course import Course
from tuner.stages.estimates import Estimates
from tuner.stages.refinement import Refinement
from tuner.stages.search import Baselines, EstimatedBaselines, Proposed, Searching
from tuner.stages.stage import Stage
from tuner.stages.verifying import VerifiedBaselines, VerifiedPoints

__all__ = ["planned"]


def planned(
    course: Course,
    built: BuiltSpace,
    search: Search | ProposedByScripts,
    storage: Storage,
    lease: Lease,
    *,
    estimates: Estimates | None,
    refiner: Callable[[Trial], MappingRefiner] | None,
    compares: bool,
) -> list[Stage]:
    """The stages of a job, in their order.

    Args:
        course: Of the job, at its beginning.
        built: Its space and baselines.
        search: The search over that space, or what scripts propose.
        storage: Where trials are kept.
        lease: Under which the job is driven.
        estimates: Where what a truncated trace estimates is gathered; None where trials are
            evaluated on the whole trace.
        refiner: Makes what refines a trial's mapping; None where the job wants no refinement.
        compares: Whether the best are evaluated by the fluid model too.
    """
    weights = SourceWeights(storage, lease)
    job_id = lease.job.id
    last: list[Stage] = []
    if compares:
        last.append(Comparing(course, partial(storage.trials.search_seconds, job_id)))
    refinement: list[Stage] = []
    if refiner is not None:
        refinement.append(Refinement(course, storage, job_id, refiner, estimates))
    if estimates is not None:
        return [
            EstimatedBaselines(course, built, search, weights, estimates),
            VerifiedBaselines(course, estimates),
            Searching(course, built, search, weights, estimates),
            *refinement,
            VerifiedPoints(course, estimates),
            *last,
        ]
    first: list[Stage] = []
    if course.spec.cutoff_factor is not None:
        first.append(Baselines(course, built, search, weights))
    main: Stage
    if isinstance(search, ProposedByScripts):
        main = Proposed(course, built, search, weights)
    else:
        main = Searching(course, built, search, weights)
    return [*first, main, *refinement, *last]

"""What is known of the application of a stored job before any trial of it is simulated."""

from __future__ import annotations

import logging

from searchspace.collectives import called_collectives
from searchspace.errors import HamtuneError
from searchspace.insight import Insight, Probes
from searchspace.job import JobSpec
from storage.errors import Unavailable
from storage.records import Application, Job
from storage.traces import traces_of
from storage.view import StorageView

__all__ = ["insight_of"]

log = logging.getLogger("hamtune.storage")


def insight_of(
    storage: StorageView, job: Job, spec: JobSpec, application: Application
) -> Insight | None:
    """What the search of a prepared job is told of its application; None where a trace is gone.

    Raises:
        Unavailable: The traces cannot be had now.
    """
    machine = spec.described_machine
    try:
        return Insight(
            machine.simulated_by(machine.trial_model),
            application.ranks,
            called_collectives(application.summary),
            traces_of(storage, application),
            Probes.from_json((job.space or {}).get("probes", {})),
            spec.terms,
        )
    except Unavailable:
        raise
    except HamtuneError as error:
        log.warning("the search knows nothing of the application of job %s: %s", job.id, error)
        return None

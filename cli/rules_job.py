"""`hamtune rules --job`: the machine, the program and the best configuration of a job."""

from __future__ import annotations

from dataclasses import dataclass

from cli.client import connect
from cli.simulation_inputs import TracedApplication, traced_application
from searchspace.configuration import Configuration
from searchspace.machine import Machine
from service.settings import Settings

__all__ = ["Given", "of_job"]


@dataclass(frozen=True)
class Given:
    """What rules are for.

    Attributes:
        machine: The cluster.
        configuration: Its network, and where the ranks are.
        traced: The program, or several; None for rules of the cluster alone.
        target: The library that has to run it, where a job names one.
    """

    machine: Machine
    configuration: Configuration
    traced: TracedApplication | None
    target: str | None = None


def of_job(reference: str, settings: Settings) -> Given:
    """Look a job up in the data directory.

    Args:
        reference: Its id, or its name where no other has that.
        settings: Where it is.

    Raises:
        HamtuneError: There is no such job, or it has no best configuration yet.
    """
    from storage.storage import Storage
    from tuner.job_space import read_job

    with connect(None, settings) as client:
        identifier = client.find_job(reference)["id"]
        best = client.get(f"/jobs/{identifier}/best")
    storage = Storage.open(settings.database_url, settings.artifacts_url, cache=settings.cache)
    try:
        job = storage.jobs.get(identifier)
        spec = read_job(storage, job)
        assert job.application_id is not None, "a job with a best trial is prepared"
        application = storage.applications.get(job.application_id)
        traced = traced_application(storage, application)
    finally:
        storage.close()
    configuration = Configuration.from_json(best["configuration"])
    return Given(spec.described_machine, configuration, traced, spec.search.target)

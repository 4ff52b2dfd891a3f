"""The service of the tests of `service`, under the Python client."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from cli.in_process import InProcess
from hamtune_client import Client, Job
from service.app import create_app
from service.runtime import Runtime
from storage.records import Outcome
from tests.service.conftest import add_trials, client, create_job, runtime, storage

__all__ = ["add_trials", "client", "create_job", "hamtune", "job", "runtime", "storage"]

DONE = Outcome(status="completed", value=2.0, cpu_seconds=1.0)
BETTER = Outcome(status="completed", value=1.0, cpu_seconds=1.0)
CUT = Outcome(status="censored", value=1.0)


@pytest.fixture
def hamtune(runtime: Runtime) -> Iterator[Client]:
    """The client over the service in this process."""
    with Client("http://localhost", transport=InProcess(create_app(runtime))) as opened:
        yield opened


@pytest.fixture
def job(hamtune: Client, create_job: Callable[..., str], add_trials: Callable[..., None]) -> Job:
    """A job with a baseline and three trials."""
    job_id = create_job()
    add_trials(job_id, DONE, DONE, BETTER, CUT, baselines=("torus-2d",))
    return hamtune.job(job_id)

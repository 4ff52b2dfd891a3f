"""Jobs driven by a coordinator in the thread of the test, and what became of them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import text

from storage.records import Job
from storage.storage import Storage
from tests.tuner.analytic import Evaluators, Gate, create_job
from tuner.coordinator import Coordinator
from tuner.evaluations import Dispatch

OUTSIDE = {"mesh-2d", "mesh-3d", "torus-3d"}
"""The baselines of the standard job that its space does not contain."""
LEASE_SECONDS = 600.0
"""Far longer than any test takes."""
AN_HOUR = 3600.0


def drive(
    storage: Storage, job: Job, dispatch: Dispatch, *, embedded: bool = True, **options: Any
) -> Job:
    """Take the job, run it in this thread, and return it as it then stands."""
    leased = storage.leases.acquire("test", LEASE_SECONDS, job.id)
    assert leased is not None
    coordinator = Coordinator(storage, dispatch, "test", embedded=embedded, **options)
    coordinator.run_job(leased)
    return storage.jobs.get(job.id)


def run(storage: Storage, *, workers: int = 2, delay: float = 0.0, **changes: Any) -> Job:
    with Evaluators(storage, workers, delay=delay) as evaluators:
        return drive(storage, create_job(storage, **changes), evaluators.dispatch)


def essence(storage: Storage, job: Job) -> list[tuple[Any, ...]]:
    """What must be equal in two runs of a job."""
    return [
        (t.number, t.kind, t.label, t.configuration_sha256, t.technique, t.cutoff, t.state, t.value)
        for t in storage.trials.of_job(job.id)
    ]


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.01)


def change(storage: Storage, statement: str, **values: Any) -> None:
    """Change what is stored, in one transaction."""
    with storage._database.writing() as session:
        session.execute(text(statement), values)


def let_an_hour_pass(storage: Storage, worker: str) -> None:
    """Nothing was heard of a worker since then; all others have as long to live as ever."""
    change(
        storage,
        "UPDATE attempts SET heartbeat_at = heartbeat_at - :hour"
        " WHERE state = 'running' AND worker = :worker",
        hour=AN_HOUR,
        worker=worker,
    )


@contextmanager
def held(storage: Storage, job: Job, passes: int) -> Iterator[tuple[Evaluators, Gate]]:
    """Two workers and a coordinator's thread, when so many more trials are done, and no more."""
    gate = Gate(passes)
    done = storage.jobs.get(job.id).evaluations + passes
    with Evaluators(storage, 2, gate) as evaluators:
        driving = threading.Thread(target=drive, args=(storage, job, evaluators.dispatch))
        driving.start()
        wait_until(lambda: storage.jobs.get(job.id).evaluations == done)
        try:
            yield evaluators, gate
        finally:
            gate.open()
            driving.join()

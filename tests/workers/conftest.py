"""Jobs whose trials the workers' tests evaluate: small traces, written here, on eight hosts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from searchspace.configuration import Configuration
from searchspace.formats.operations import encode
from searchspace.formats.trace import RankFile, TraceHeader, write_trace
from searchspace.job import load_job
from storage.proposal import Proposal
from storage.records import Job, Trial, TrialKind
from storage.storage import Storage
from workers.evaluator import Evaluator
from workers.prepare import prepare_job

RANKS = 8
MACHINE = {
    "nodes": 8,
    "degree": 3,
    "host_speed": "1Gf",
    "link_bandwidth": "10Gbps",
    "link_latency": "1us",
}
CONFIGURATION = {
    "topology": "mesh-2d",
    "ordering": "original",
    "mapping": "by-order",
    "mpi": "mpich",
    "collectives": {"alltoall": "bruck"},
}


@dataclass(frozen=True)
class RunningJob:
    """A prepared job under a lease, with what a coordinator does to it."""

    storage: Storage
    id: str
    token: int

    def propose(
        self,
        number: int = 1,
        *,
        cutoff: float | None = None,
        kind: TrialKind = "search",
        **changes: Any,
    ) -> Trial:
        """Propose a trial of the usual configuration with some changes."""
        configuration = Configuration.from_json(CONFIGURATION | changes)
        return self.storage.trials.propose(
            self.id,
            self.token,
            Proposal.of(
                configuration,
                number=number,
                kind=kind,
                cutoff=cutoff,
            ),
        )

    def open(self, number: int = 1, **changes: Any) -> str:
        """Propose a trial and open an attempt at it, whose id a message would carry."""
        trial = self.propose(number, **changes)
        return self.storage.attempts.open(trial.id, self.token).id

    def open_again(self, number: int) -> str:
        """Open an attempt at a trial that was handed back."""
        return self.storage.attempts.open(self.trial(number).id, self.token).id

    def trial(self, number: int = 1) -> Trial:
        """The trial as it stands."""
        return self.storage.trials.get(self.id, number)


RunJob = Callable[..., RunningJob]


def write_program(path: Path, iterations: int) -> Path:
    """Write a trace of eight ranks that compute and exchange blocks, over and over."""
    alltoall = encode(
        "alltoall", comm=0, send_count=1000, send_size=8, recv_count=1000, recv_size=8, flags=0
    )
    operations = path.with_suffix(".operations")
    body = (encode("compute", flops=1e6) + alltoall) * iterations
    operations.write_bytes(body + encode("finalize"))
    header = TraceHeader(ranks=RANKS, program="exchange")
    write_trace(path, header, [RankFile(operations, 2 * iterations + 1)] * RANKS)
    return path


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    """An empty storage on SQLite."""
    opened = Storage.open(f"sqlite:///{tmp_path}/hamtune.db", str(tmp_path / "artifacts"))
    opened.upgrade()
    yield opened
    opened.close()


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace whose replay takes milliseconds."""
    return write_program(tmp_path / "short.ht", iterations=3)


@pytest.fixture
def long_trace(tmp_path: Path) -> Path:
    """A trace whose replay takes far longer than any test waits."""
    return write_program(tmp_path / "long.ht", iterations=150_000)


def job_document(trace: Path, **changes: Any) -> dict[str, Any]:
    """A job over a trace."""
    return {
        "name": "exchange",
        "application": {"trace": str(trace)},
        "machine": MACHINE,
        "search": {
            "topology": ["mesh-2d", "torus-3d"],
            "ordering": ["original", "hamorder"],
            "mpi": ["mpich", "ompi"],
            "collectives": {"alltoall": ["default", "bruck", "pair"]},
        },
        "budget": {"trials": 10},
    } | changes


def start_job(storage: Storage, trace: Path, **changes: Any) -> RunningJob:
    """Create a job over a trace, prepare it, and take its lease."""
    spec = load_job(job_document(trace, **changes))
    job = storage.jobs.create(name=spec.name, spec=spec.canonical(), seed=spec.seed)
    leased = storage.leases.acquire("coordinator", 600.0, job.id)
    assert leased is not None
    storage.jobs.transition(job.id, "preparing", token=leased.lease_token)
    prepare_job(storage, job.id)
    storage.jobs.transition(job.id, "running", token=leased.lease_token)
    return RunningJob(storage, job.id, leased.lease_token)


@pytest.fixture
def run_job(storage: Storage) -> Callable[..., RunningJob]:
    """Starts jobs in the storage."""
    return functools.partial(start_job, storage)


@pytest.fixture
def evaluator(storage: Storage) -> Iterator[Evaluator]:
    """An evaluator that beats often."""
    opened = Evaluator(storage, "worker", heartbeat_seconds=0.05)
    yield opened
    opened.close()


def create(storage: Storage, document: dict[str, Any]) -> Job:
    spec = load_job(document)
    job = storage.jobs.create(name=spec.name, spec=spec.canonical(), seed=spec.seed)
    return storage.jobs.transition(job.id, "preparing")

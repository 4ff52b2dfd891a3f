"""Evaluators for tests of the coordinator: threads that answer attempts by an analytic objective.

Run as a program (`python -m tests.tuner.analytic DIRECTORY JOB WORKERS MOST`), it drives a stored
job in a process of its own until about so many trials are evaluated, and waits to be killed.
"""

from __future__ import annotations

import hashlib
import queue
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from searchspace.collectives import called_collectives
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.job import build_space, load_job
from storage.messages import EVALUATE, PREPARE
from storage.records import DEFAULT_PROJECT, FINAL_JOB_STATES, Job, Outcome, Trial
from storage.storage import Storage
from tuner.coordinator import Coordinator
from tuner.evaluations import Silence
from workers.sources import sources_of, store_experiences

SPEC: dict[str, Any] = {
    "name": "analytic",
    "application": {"builtin": "cg", "class": "S", "ranks": 16},
    "machine": {"nodes": 16, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"},
    "search": {
        "topology": [{"family": "random", "instances": 6}, "torus-2d"],
        "ordering": ["original", "hamorder"],
        "mpi": ["mpich", "ompi"],
        "collectives": {"alltoall": "all", "allreduce": "all"},
    },
    "budget": {"trials": 40},
    "seed": 3,
}
CALLS = {"alltoall": 1, "allreduce": 1, "allgather": 1, "scatter": 1}

Objective = Callable[[Mapping[str, Any]], Outcome]


def open_storage(directory: Path) -> Storage:
    storage = Storage.open(f"sqlite:///{directory}/hamtune.db", str(directory / "artifacts"))
    storage.upgrade()
    return storage


def create_job(storage: Storage, *, project: str = DEFAULT_PROJECT, **changes: Any) -> Job:
    """A queued job; the analytic evaluators prepare it when they are asked to."""
    spec = load_job({**SPEC, **changes})
    return storage.of_project(project).jobs.create(
        name=spec.name,
        spec=spec.canonical(),
        seed=spec.seed,
        priority=spec.priority,
        concurrency=spec.concurrency,
    )


def simulated(configuration: Mapping[str, Any]) -> Outcome:
    """Seconds that each choice contributes, by its digest; one in nine choices crashes."""
    parts = {
        name: int.from_bytes(hashlib.sha256(f"{name}={value}".encode()).digest()[:2], "big")
        for name, value in _flat(configuration)
    }
    if sum(parts.values()) % 9 == 0:
        return Outcome(
            status="failed",
            reason={"kind": "crash", "message": "SMPI aborted"},
            cpu_seconds=0.25,
        )
    return Outcome(
        status="completed",
        value=1.0 + sum(part / 65536 for part in parts.values()),
        cpu_seconds=0.5,
    )


class Gate:
    """An objective that lets so many evaluations pass and holds the others until it is opened."""

    def __init__(self, passes: int) -> None:
        self.passes = passes
        self._passes = threading.Semaphore(passes)
        self._open = threading.Event()

    def __call__(self, configuration: Mapping[str, Any]) -> Outcome:
        while not self._open.is_set() and not self._passes.acquire(timeout=0.01):
            pass
        return simulated(configuration)

    def open(self) -> None:
        self._open.set()


def _flat(configuration: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for name, value in configuration.items():
        if isinstance(value, Mapping):
            pairs += _flat(value, f"{prefix}{name}.")
        else:
            pairs.append((prefix + name, value))
    return pairs


def estimated(outcome: Outcome) -> Outcome:
    """A cheap estimate: in another scale, and too coarse to tell near equals apart."""
    if outcome.value is None:
        return outcome
    return replace(outcome, value=0.5 * round(outcome.value, 1), cpu_seconds=0.01)


def censored(outcome: Outcome, cutoff: float | None) -> Outcome:
    """What a simulator that stops at the cutoff answers."""
    if cutoff is None or outcome.value is None or outcome.value <= cutoff:
        return outcome
    return Outcome(status="censored", value=cutoff, cpu_seconds=outcome.cpu_seconds)


class Evaluators:
    """Worker threads; `dispatch` is what the coordinator is given.

    Args:
        storage: The storage of the coordinator.
        workers: How many threads; 0 takes messages and never answers.
        objective: From a configuration to its outcome without cutoff.
        delay: The longest an evaluation takes; each takes a random part of it.
    """

    def __init__(
        self,
        storage: Storage,
        workers: int = 1,
        objective: Objective = simulated,
        delay: float = 0.0,
    ) -> None:
        self.storage = storage
        self.objective = objective
        self.sent: list[tuple[str, str]] = []
        self._delay = delay
        self._random = random.Random()
        self._messages: queue.SimpleQueue[tuple[str, str] | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def dispatch(self, task: str, identifier: str) -> None:
        self.sent.append((task, identifier))
        self._messages.put((task, identifier))

    def evaluated(self) -> int:
        return sum(task == EVALUATE for task, _ in self.sent)

    def close(self) -> None:
        for _ in self._threads:
            self._messages.put(None)
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _work(self) -> None:
        while (message := self._messages.get()) is not None:
            task, identifier = message
            if task == PREPARE:
                prepare(self.storage, identifier)
            else:
                self._evaluate(identifier)

    def _evaluate(self, attempt_id: str) -> None:
        trial = self.storage.attempts.begin(attempt_id, threading.current_thread().name)
        if trial is None:
            return
        time.sleep(self._random.random() * self._delay)
        self.storage.attempts.finish(attempt_id, censored(self.outcome(trial), trial.cutoff))

    def outcome(self, trial: Trial) -> Outcome:
        """What a trial comes to without a cutoff."""
        outcome = self.objective(trial.configuration)
        return estimated(outcome) if trial.fidelity == "low" else outcome


def prepare(storage: Storage, job_id: str) -> None:
    """What a worker does to prepare a job, with an application that needs no capture."""
    spec = load_job(storage.jobs.get(job_id).spec)
    # A search that weighs two objectives looks at the application.
    trace = "0" * 64 if spec.terms is None else _small_trace(storage)
    application = storage.applications.add(
        name="cg",
        kind="builtin",
        key="cg" if spec.terms is None else "small",
        trace_sha256=trace,
        ranks=16,
        summary={"calls": CALLS},
    )
    space = build_space(spec, application.ranks, called_collectives({"calls": CALLS})).describe()
    if spec.fidelity == "auto":
        space["fidelity"] = {"trace_sha256": "1" * 64, "share": 0.02, "obstacle": None}
    share = storage.of_project(storage.jobs.get(job_id).project)
    if sources := sources_of(share, spec):
        space["learned_from"] = store_experiences(share, sources, optional=False)
    storage.jobs.set_prepared(job_id, application_id=application.id, space=space)


def _small_trace(storage: Storage) -> str:
    """The digest of a trace in which every rank sends to all others, kept by the storage."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.ht"
        calls = encode("alltoall", send_count=8, send_size=8, recv_count=8, recv_size=8) + encode(
            "finalize"
        )
        write_trace(path, TraceHeader(ranks=16, program="p", captured_by="hand"), [calls] * 16)
        return storage.artifacts.put(path)


def main() -> None:
    directory, job_id, workers, most = sys.argv[1:]
    storage = open_storage(Path(directory))

    def objective(configuration: Mapping[str, Any]) -> Outcome:
        while storage.jobs.get(job_id).evaluations >= int(most):
            time.sleep(0.01)
        return simulated(configuration)

    with Evaluators(storage, int(workers), objective, delay=0.03) as evaluators:
        coordinator = Coordinator(
            storage,
            evaluators.dispatch,
            "killable",
            embedded=True,
            lease_seconds=0.5,
            silence=Silence(losses=1000),
        )
        # On a machine that stands still for a moment the lease runs out: it is taken again.
        while storage.jobs.get(job_id).state not in FINAL_JOB_STATES:
            job = storage.leases.acquire("killable", 0.5, job_id)
            if job is None:
                time.sleep(0.02)
            else:
                coordinator.run_job(job)


if __name__ == "__main__":
    main()

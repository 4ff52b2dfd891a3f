"""Trials whose evaluation costs nothing: what broker, database, coordinator and workers take.

A job is run once, so that the evaluation cache knows all its trials. Then it is run again: a
thousand of its trials are asked and wait before a worker starts, and from there on each goes the
whole way, from the message over the lease, the cache and the transaction that stores its outcome to
the coordinator that tells OpenTuner. A third run goes on asking while its trials are evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.service.bars import Bar, short_job
from benchmarks.service.installation import Installation, cpu_seconds
from storage.records import Trial

RATE_BAR = 300.0  # finished trials a second
COORDINATOR_BAR = 30.0  # CPU milliseconds a trial
TRIALS = 1000
WORKERS = 2


def measure(installation: Installation, scale: float) -> tuple[list[Bar], dict[str, float]]:
    """The bars, and the CPU milliseconds a trial by part, which `benchmarks.scaling` takes."""
    trials = max(50, int(TRIALS * scale))
    coordinator = installation.start("coordinator")
    preparer = installation.workers(1, queues="prepare")
    workers = installation.workers(WORKERS, queues="evaluate")
    idle = sum(worker.cpu_seconds for worker in workers)  # what it takes to start them
    installation.finish([installation.submit(short_job("known", trials, batch=trials))], 300.0)
    for worker in workers:
        worker.stop()

    before = coordinator.cpu_seconds
    queued = installation.submit(short_job("queued", trials, batch=trials))
    installation.wait_for(
        lambda: sum(installation.storage.trials.counts([queued])[queued].states.values()) >= trials,
        "the trials were not asked",
        300.0,
    )
    asked = coordinator.cpu_seconds
    servers = {"database": installation.postgresql.pid, "broker": installation.redis.pid}
    at_start = {name: cpu_seconds(pid) for name, pid in servers.items()}
    workers = installation.workers(WORKERS, queues="evaluate")
    installation.finish([queued], 300.0)
    told = coordinator.cpu_seconds
    costs = {
        "ask": asked - before,
        "tell": told - asked,
        "worker": sum(worker.cpu_seconds for worker in workers) - idle,
        **{name: cpu_seconds(pid) - at_start[name] for name, pid in servers.items()},
    }
    costs = {name: 1000.0 * seconds / trials for name, seconds in costs.items()}
    drained = _rate(installation.storage.trials.of_job(queued, limit=1000))

    again = installation.submit(short_job("asking", trials, batch=max(8, trials // 4)))
    installation.finish([again], 300.0)
    job = installation.storage.jobs.get(again)
    assert job.started_at is not None, "it has ended"
    assert job.finished_at is not None, "it has ended"
    sustained = trials / (job.finished_at - job.started_at)

    bars = _bars(trials, drained, sustained, costs)
    for part in (coordinator, *workers, *preparer):
        part.stop()
    return bars, {**costs, "drained": drained, "sustained": sustained}


def _bars(trials: int, drained: float, sustained: float, costs: Mapping[str, float]) -> list[Bar]:
    coordinating = costs["ask"] + costs["tell"]
    parts = ", ".join(f"{name} {value:.2f}" for name, value in costs.items())
    return [
        Bar(
            f"{trials} queued trials of no length",
            f">= {RATE_BAR:.0f} a second",
            f"{drained:.0f} a second (a whole job, from its start: {sustained:.0f})",
            drained >= RATE_BAR,
        ),
        Bar(
            "coordinator, with OpenTuner",
            f"< {COORDINATOR_BAR:.0f} ms CPU a trial",
            f"{coordinating:.1f} ms (CPU ms a trial: {parts})",
            0.0 < coordinating < COORDINATOR_BAR,
        ),
    ]


def _rate(trials: list[Trial]) -> float:
    """Trials a second, from the first that a worker took to the last that was stored."""
    assert all(trial.cached for trial in trials), "the cache knew all of them"
    began = min(trial.started_at for trial in trials if trial.started_at is not None)
    ended = max(trial.finished_at for trial in trials if trial.finished_at is not None)
    return len(trials) / (ended - began)

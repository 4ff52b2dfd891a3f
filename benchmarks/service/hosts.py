"""Eight hosts of workers beside one: what an evaluation costs in all.

Each host is a network namespace of its own, from which one worker reaches PostgreSQL and Redis.
This machine has fewer cores than that, so what counts is not the time of the clock but how many
evaluations a core gives, those of the servers and the coordinator with it.
"""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.service.bars import Bar, short_job
from benchmarks.service.installation import Installation, Part, cpu_seconds
from deploy.remote import Remote

HOSTS = 8
SHARE_BAR = 0.9
TRIALS = 400


def measure(installation: Installation, scale: float) -> list[Bar]:
    """The same job by the worker of one host and by those of eight, with an empty cache each."""
    job = short_job("hosts", max(32, int(TRIALS * scale)), batch=4 * HOSTS)
    job["application"] = {"builtin": "mg", "class": "A", "ranks": 32}
    job["machine"] |= {"nodes": 32}
    coordinator = installation.start("coordinator")
    preparer = installation.workers(1, queues="prepare")
    ports = [installation.postgresql.port, installation.redis.port]
    costs: dict[int, float] = {}
    evaluation = 0.0
    for count in (1, HOSTS):
        with ExitStack() as stack:
            remotes = [stack.enter_context(Remote(ports)) for _ in range(count)]
            prefixes = [remote.prefix for remote in remotes]
            workers = installation.workers(count, queues="evaluate", prefixes=prefixes)
            # Its application is captured, and each worker has read the trace.
            warm = {**job, "seed": 2, "budget": {"trials": 4 * count}}
            installation.finish([installation.submit(warm)], 300.0)
            installation.storage.retention.expire(jobs=None, evaluations=float("inf"))
            parts = [coordinator, *workers]
            before = _used(installation, parts)
            job_id = installation.submit(job)
            installation.finish([job_id], 600.0)
            used = _used(installation, parts) - before
            trials = installation.storage.trials.of_job(job_id, limit=1000)
            costs[count] = used / len(trials)
            evaluation = sum(trial.cpu_seconds or 0.0 for trial in trials) / len(trials)
            for worker in workers:
                worker.stop()
    for part in (coordinator, *preparer):
        part.stop()
    share = costs[1] / costs[HOSTS]
    shown = f"{1000 * costs[1]:.1f} and {1000 * costs[HOSTS]:.1f} CPU ms in all"
    return [
        Bar(
            f"evaluations a core, {HOSTS} hosts beside 1",
            f">= {SHARE_BAR}",
            f"{share:.2f} ({shown}, of which the simulation {1000 * evaluation:.1f})",
            share >= SHARE_BAR,
        )
    ]


def _used(installation: Installation, parts: list[Part]) -> float:
    """CPU seconds of the product's processes and of the servers until now."""
    servers = (installation.postgresql.pid, installation.redis.pid)
    return sum(part.cpu_seconds for part in parts) + sum(map(cpu_seconds, servers))

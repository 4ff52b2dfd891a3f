"""Two workers beside one: a job whose evaluations keep a core busy each."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.service.bars import Bar, short_job
from benchmarks.service.installation import Installation

SPEEDUP_BAR = 1.9
TRIALS = 180
ROUNDS = 3
OUTCOME = ("number", "kind", "label", "configuration_sha256", "technique", "state", "value")


def measure(installation: Installation, scale: float) -> list[Bar]:
    """The same job by one worker and by two, in turns, each with an empty evaluation cache.

    In turns, since the speed of a machine that is shared with others changes by the minute.
    """
    job = short_job("busy", max(8, int(TRIALS * scale)), batch=16)
    job["application"] = {"builtin": "mg", "class": "A", "ranks": 32}
    job["machine"] |= {"nodes": 32}
    coordinator = installation.start("coordinator")
    # Its application is captured by one that is not measured.
    workers = installation.workers(1)
    installation.finish([installation.submit({**job, "seed": 2, "budget": {"trials": 4}})], 120.0)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    outcomes: list[list[Any]] = []
    for count in (1, 2) * ROUNDS:
        if count > len(workers):
            workers += installation.workers(1)
        elif count < len(workers):
            workers.pop().stop()
        installation.storage.retention.expire(jobs=None, evaluations=float("inf"))
        job_id = installation.submit(job)
        installation.finish([job_id], 200.0)
        trials = installation.storage.trials.of_job(job_id)
        began = min(trial.started_at for trial in trials if trial.started_at is not None)
        ended = max(trial.finished_at for trial in trials if trial.finished_at is not None)
        seconds[count].append(ended - began)
        outcomes.append([[getattr(trial, key) for key in OUTCOME] for trial in trials])
        assert not any(trial.cached for trial in trials), "nothing was known"
    for part in (coordinator, *workers):
        part.stop()
    gains = [alone / both for alone, both in zip(seconds[1], seconds[2], strict=True)]
    gain = statistics.median(gains)
    equal = all(outcome == outcomes[0] for outcome in outcomes)
    alone, both = (statistics.median(seconds[count]) for count in (1, 2))
    shown = f"{alone:.1f} s and {both:.1f} s; {min(gains):.2f} to {max(gains):.2f}"
    return [
        Bar(
            "2 workers beside 1",
            f">= {SPEEDUP_BAR} x",
            f"{gain:.2f} x in the median of {ROUNDS} ({shown})",
            gain >= SPEEDUP_BAR,
        ),
        Bar("their outcome", "identical", "identical" if equal else "differs", equal),
    ]

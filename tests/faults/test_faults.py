"""Nothing is lost and nothing counted twice, whatever dies: faults injected on real servers.

A short run by default; HAMTUNE_FAULTS=200 HAMTUNE_FAULT_SEED=2 make a longer one, or another.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from storage.records import FINAL_JOB_STATES
from tests.faults.cluster import Installation, installation
from tests.faults.faults import FAULTS
from tests.faults.jobs import SECONDS, check, job, wait_for

COUNT = int(os.environ.get("HAMTUNE_FAULTS", "8"))
SEED = int(os.environ.get("HAMTUNE_FAULT_SEED", "1"))
SECONDS_OF_A_FAULT = 30.0  # with what follows it, on a crowded machine
AT_ONCE = 2


@pytest.mark.timeout(SECONDS + COUNT * SECONDS_OF_A_FAULT)
def test_jobs_end_as_if_nothing_had_happened(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    (tmp_path / "faulty").mkdir()
    with installation(tmp_path / "faulty") as running:
        jobs = inject(running, rng)
        wait_for(running, jobs)
        check(running, jobs, tmp_path)


def inject(running: Installation, rng: random.Random) -> dict[int, str]:
    """Break things while jobs run, further ones as earlier ones end; the ids of all."""
    jobs: dict[int, str] = {}
    for _ in range(COUNT):
        shown = running.get("/jobs", limit=100)["items"]
        active = [one for one in shown if one["state"] not in FINAL_JOB_STATES]
        if len(active) < AT_ONCE:
            jobs[len(jobs) + 1] = running.submit(job(len(jobs) + 1))
        time.sleep(rng.uniform(0.0, 1.0))
        (fault,) = rng.choices(list(FAULTS), list(FAULTS.values()))
        running.events.append(fault.__name__)
        running.start_again()
        fault(running, rng)
    running.set_clocks(0)
    return jobs

"""Nothing is lost and nothing counted twice, whatever dies: faults injected on real servers.

A short run by default; HAMTUNE_FAULTS=200 HAMTUNE_FAULT_SEED=2 make a longer one, or another.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.client import connect
from service.settings import Settings
from storage.records import FINAL_JOB_STATES
from tests.faults.cluster import ROOT, Installation, installation
from tests.faults.faults import FAULTS

COUNT = int(os.environ.get("HAMTUNE_FAULTS", "8"))
SEED = int(os.environ.get("HAMTUNE_FAULT_SEED", "1"))
SECONDS_OF_A_FAULT = 30.0  # with what follows it, on a crowded machine
SECONDS = 600.0
"""How long jobs may take to their end once nothing breaks any more."""
AT_ONCE = 2

OUTCOME = (
    "number",
    "kind",
    "label",
    "configuration",
    "technique",
    "state",
    "reason",
    "cutoff",
    "value",
)


def job(number: int) -> dict[str, Any]:
    return {
        "name": f"faults-{number}",
        "application": {"builtin": "mg", "class": "S", "ranks": 16},
        "machine": {
            "nodes": 16,
            "degree": 4,
            "host_speed": "100Gf",
            "link_bandwidth": "40Gbps",
            "switch_latency": "60ns",
        },
        "search": {
            "topology": ["random", "mesh-2d"],
            "ordering": ["original", "hamorder"],
            "mpi": ["mpich", "ompi"],
            "collectives": {"allreduce": "all", "bcast": "all"},
        },
        "budget": {"trials": 30},
        "seed": number,
    }


@pytest.mark.timeout(SECONDS + COUNT * SECONDS_OF_A_FAULT)
def test_jobs_end_as_if_nothing_had_happened(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    (tmp_path / "faulty").mkdir()
    with installation(tmp_path / "faulty") as running:
        jobs = inject(running, rng)
        wait_for(running, jobs)
        found = {number: outcome(running, job_id) for number, job_id in jobs.items()}
        counts = {number: evaluations(running, job_id) for number, job_id in jobs.items()}
        fresh = {number: uncached(running, job_id) for number, job_id in jobs.items()}
        for process in running.processes:
            assert process.stop() in (0, 130, -signal.SIGTERM), process.log.read_text()[-2000:]
        left = running.left_running()
        scratch = sorted(path.name for path in (running.directory / "tmp").iterdir())
    assert left == []
    assert scratch == []
    for number, trials in found.items():
        assert trials == undisturbed(tmp_path, number), f"job {number}, faults: {running.events}"
        assert counts[number] == fresh[number]


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


def wait_for(running: Installation, jobs: dict[int, str]) -> None:
    deadline = time.monotonic() + SECONDS
    for number, job_id in jobs.items():
        while (shown := running.get(f"/jobs/{job_id}"))["state"] != "completed":
            assert shown["state"] not in ("failed", "cancelled"), (number, shown, running.events)
            assert time.monotonic() < deadline, (number, shown, running.events)
            running.start_again()
            time.sleep(0.2)


def outcome(running: Installation, job_id: str) -> list[dict[str, Any]]:
    page = running.get(f"/jobs/{job_id}/trials", limit=500)
    return [{key: trial[key] for key in OUTCOME} for trial in page["items"]]


def evaluations(running: Installation, job_id: str) -> int:
    """How many evaluations the job was charged for."""
    return int(running.get(f"/jobs/{job_id}")["progress"]["evaluations"])


def uncached(running: Installation, job_id: str) -> int:
    """How many of its trials were evaluated for it."""
    page = running.get(f"/jobs/{job_id}/trials", limit=500)
    return sum(not trial["cached"] for trial in page["items"])


def undisturbed(folder: Path, number: int) -> list[dict[str, Any]]:
    """The trials of the same job, run in one process where nothing breaks."""
    data = folder / "undisturbed"
    data.mkdir(exist_ok=True)
    job_file = data / f"{number}.yaml"
    job_file.write_text(yaml.safe_dump(job(number)))
    subprocess.run(
        [str(ROOT / "hamtune"), "run", str(job_file), "--data", str(data), "--json"],
        check=True,
        capture_output=True,
    )
    with connect(None, Settings.under(data)) as client:
        found = client.find_job(f"faults-{number}")
        page = client.get(f"/jobs/{found['id']}/trials", limit=500)
    return [{key: trial[key] for key in OUTCOME} for trial in page["items"]]

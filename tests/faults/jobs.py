"""Jobs that run while things break, and what must be the same of them when nothing does."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import yaml

from benchmarks.machines import designed
from cli.client import connect
from service.settings import Settings
from tests.faults.cluster import ROOT, Installation

__all__ = ["check", "job", "wait_for"]

SECONDS = 600.0
"""How long jobs may take to their end once nothing breaks any more."""

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
        "machine": designed(16, 4),
        "search": {
            "topology": ["random", "mesh-2d"],
            "ordering": ["original", "hamorder"],
            "mpi": ["mpich", "ompi"],
            "collectives": {"allreduce": "all", "bcast": "all"},
        },
        "budget": {"trials": 30},
        "seed": number,
    }


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
    done = subprocess.run(
        [str(ROOT / "hamtune"), "run", str(job_file), "--data", str(data), "--json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    with connect(None, Settings.under(data)) as client:
        found = client.find_job(f"faults-{number}")
        page = client.get(f"/jobs/{found['id']}/trials", limit=500)
    return [{key: trial[key] for key in OUTCOME} for trial in page["items"]]


def check(running: Installation, jobs: dict[int, str], folder: Path) -> None:
    """End the installation; see that nothing of the jobs was lost, double, or different.

    Args:
        running: Where they have ended.
        jobs: Their ids by number.
        folder: For the same jobs where nothing breaks.
    """
    found = {number: outcome(running, job_id) for number, job_id in jobs.items()}
    counts = {number: evaluations(running, job_id) for number, job_id in jobs.items()}
    fresh = {number: uncached(running, job_id) for number, job_id in jobs.items()}
    for process in running.processes:
        assert process.stop() in (0, 130, -signal.SIGTERM), process.log.read_text()[-2000:]
    left = running.left_running()
    assert not left, left
    assert sorted(path.name for path in (running.directory / "tmp").iterdir()) == []
    for number, trials in found.items():
        told = f"job {number}, faults: {running.events}"
        alone = undisturbed(folder, number)
        for trial, expected in zip(trials, alone, strict=False):
            assert trial == expected, told
        assert len(trials) == len(alone), told
        assert counts[number] == fresh[number]

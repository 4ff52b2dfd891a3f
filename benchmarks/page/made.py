"""Jobs that are made up, a service over them, and windows of a browser."""

from __future__ import annotations

import math
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
from playwright.sync_api import Browser, Page
from sqlalchemy import create_engine, insert, update

from benchmarks.machines import designed
from searchspace.configuration import Configuration
from searchspace.job import load_job
from service.runtime import Runtime
from service.settings import Settings
from storage.models import JobRow, TrialRow
from storage.records import JobState

__all__ = ["CHOICES", "PATIENCE", "SPEC", "lengthen", "seed", "service", "window"]

ROOT = Path(__file__).resolve().parents[2]

PATIENCE = 120_000  # milliseconds

SPEC: dict[str, Any] = {
    "name": "live",
    "application": {"builtin": "is", "class": "S", "ranks": 16},
    "machine": designed(16, 4, network="fluid"),
    "search": {
        "topology": [{"family": "random", "instances": 50}, "torus-2d"],
        "ordering": ["original", "hamorder"],
        "mpi": ["mpich", "ompi"],
        "collectives": {"alltoall": "all", "allreduce": "all"},
    },
    "budget": {"trials": 60},
    "seed": 1,
}

CHOICES: dict[str, Sequence[str]] = {
    "topology": ("random", "torus-2d", "torus-3d", "circulant", "hypercube"),
    "ordering": ("original", "hamorder", "rcm", "spectral", "gorder"),
    "mapping": ("by-order", "treematch", "greedy", "recursive-bipartition"),
    "mpi": ("default", "mpich", "ompi", "mvapich2", "impi"),
    **{
        f"collectives.{name}": tuple(f"algorithm-{letter}" for letter in "abcdefghij")
        for name in ("allreduce", "alltoall", "bcast", "allgather", "reduce", "barrier")
    },
}
STATES: tuple[JobState, ...] = ("preparing", "running", "completed")
TECHNIQUES = ("UniformGreedyMutation", "NormalGreedyMutation", "RandomNelderMead", "PureRandom")


def seed(
    settings: Settings,
    name: str,
    trials: int,
    *,
    document: Mapping[str, Any] = MappingProxyType(SPEC),
    choices: Mapping[str, Sequence[str]] = MappingProxyType(CHOICES),
    result: Mapping[str, Any] | None = None,
) -> str:
    """Store a completed job whose trials are made up; returns its id.

    Args:
        settings: Where to.
        name: Of the job.
        trials: How many.
        document: The job.
        choices: What trials draw from, by parameter.
        result: What the simulator measured beside the time, of all of them.
    """
    draw = random.Random(trials)
    weight = {
        choice: draw.uniform(0.7, 1.4)
        for choice in ((name, value) for name, values in choices.items() for value in values)
    }
    spec = load_job({**document, "name": name, "budget": {"trials": trials}}).canonical()
    with Runtime(settings, run=False) as runtime:
        job = runtime.storage.jobs.create(name=name, spec=spec, seed=1)
        for state in STATES:
            runtime.storage.jobs.transition(job.id, state)
    rows = [
        {**_row(draw, choices, weight, job.id, number), "result": result}
        for number in range(1, trials + 1)
    ]
    best = min((row for row in rows if row["state"] == "completed"), key=lambda row: row["value"])
    # In one transaction: one for each trial, as in a job that runs, would take minutes.
    with create_engine(settings.database_url).begin() as connection:
        connection.execute(insert(TrialRow), rows)
        connection.execute(
            update(JobRow)
            .where(JobRow.id == job.id)
            .values(best_trial=best["number"], best_value=best["value"], evaluations=trials)
        )
    return job.id


def lengthen(settings: Settings, job_id: str, trials: int) -> None:
    """Add trials that are made up to a job that has ended, all slower than its best one.

    What the page asks the service of its best and of its baselines is what was simulated.

    Args:
        settings: Where the job is.
        job_id: The job.
        trials: How many it has then.
    """
    draw = random.Random(trials)
    with Runtime(settings, run=False) as runtime:
        best = runtime.storage.jobs.get(job_id).best_value or 1.0
        known = runtime.storage.trials.points(job_id)[-1].number
    weight = {
        choice: draw.uniform(1.01, 1.4)
        for choice in ((name, value) for name, values in CHOICES.items() for value in values)
    }
    rows = []
    for number in range(known + 1, trials + 1):
        row = _row(draw, CHOICES, weight, job_id, number)
        value = row["value"] / 0.02 * best
        rows.append({**row, "kind": "search", "label": None, "value": value, "result": None})
    with create_engine(settings.database_url).begin() as connection:
        connection.execute(insert(TrialRow), rows)
        connection.execute(update(JobRow).where(JobRow.id == job_id).values(evaluations=trials))


def _row(
    draw: random.Random,
    choices: Mapping[str, Sequence[str]],
    weight: dict[tuple[str, str], float],
    job_id: str,
    number: int,
) -> dict[str, Any]:
    baseline = number <= 3
    values = {parameter: draw.choice(options) for parameter, options in choices.items()}
    configuration = Configuration({**values, "topology_seed": number})
    at = time.time() + number
    return {
        "job_id": job_id,
        "number": number,
        "kind": "baseline" if baseline else "search",
        "label": f"torus-{number}d" if baseline else None,
        "inside": True,
        "configuration": configuration.to_dict(),
        "configuration_sha256": configuration.sha256,
        "technique": None if baseline else draw.choice(TECHNIQUES),
        "state": "completed" if baseline or draw.random() < 0.8 else "censored",
        "value": 0.02 * math.prod(weight[choice] for choice in values.items()),
        "cached": not baseline and draw.random() < 0.1,
        "cpu_seconds": 0.1,
        "wall_seconds": 0.1,
        "worker": f"worker-{number % 4}",
        "created_at": at,
        "started_at": at,
        "finished_at": at + 0.9,
    }


@contextmanager
def service(data: Path) -> Iterator[str]:
    """`hamtune up` over a data directory; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "cli", "up", "--port", str(port), "--data", str(data)],
        cwd=ROOT,
        env={**os.environ, "HAMTUNE_CONCURRENCY": "1"},
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 60.0
        while True:
            try:
                httpx.get(f"{url}/healthz", timeout=5.0).raise_for_status()
                break
            except httpx.HTTPError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def window(browser: Browser) -> Iterator[Page]:
    """A page with an empty cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    try:
        yield context.new_page()
    finally:
        context.close()

"""Jobs of thousands of trials, which to evaluate would take minutes: their outcomes are made up."""

from __future__ import annotations

import random
from typing import Any

from sqlalchemy import create_engine, insert

from searchspace.configuration import Configuration
from storage.models import TrialRow
from storage.storage import Storage

STATES = ("completed", "completed", "censored", "infeasible")
WORKERS = ("node-1-17", "node-2-17", "node-3-17")
CHOICES: dict[str, tuple[str, ...]] = {
    "topology": ("random", "torus-2d"),
    "ordering": ("original", "hamorder", "gorder"),
    "mpi": ("mpich", "ompi"),
}


def seed(database_url: str, storage: Storage, spec: dict[str, Any], trials: int) -> str:
    """A completed job with trials of all kinds, the first a baseline outside the space; its id."""
    job = storage.jobs.create(name=str(spec["name"]), spec=spec, seed=1)
    for state in ("preparing", "running", "completed"):
        storage.jobs.transition(job.id, state)
    draw = random.Random(trials)
    rows = [_row(draw, job.id, number, job.created_at) for number in range(1, trials + 1)]
    with create_engine(database_url).begin() as connection:
        connection.execute(insert(TrialRow), rows)
    return job.id


def _row(draw: random.Random, job_id: str, number: int, at: float) -> dict[str, Any]:
    is_baseline = number == 1
    choices = {name: draw.choice(values) for name, values in CHOICES.items()}
    if is_baseline:
        choices["topology"] = "mesh-2d"
    configuration = Configuration({**choices, "topology_seed": draw.randrange(200)})
    state = "completed" if is_baseline else draw.choice(STATES)
    cached = not is_baseline and draw.random() < 0.1
    untaken = state == "infeasible" and not cached  # it breaks a constraint
    slow = 2.0 if choices["mpi"] == "ompi" else 1.0
    return {
        "job_id": job_id,
        "number": number,
        "kind": "baseline" if is_baseline else "search",
        "label": "mesh-2d" if is_baseline else None,
        "inside": not is_baseline,
        "configuration": configuration.to_dict(),
        "configuration_sha256": configuration.sha256,
        "technique": None if is_baseline else "PureRandom",
        "state": state,
        "value": None if state == "infeasible" else slow * draw.uniform(1.0, 1.5),
        "cached": cached,
        "cpu_seconds": 0.1,
        "wall_seconds": None if cached or untaken else draw.uniform(0.1, 0.3),
        "worker": None if untaken else draw.choice(WORKERS),
        "created_at": at + number,
        "started_at": at + number,
        "finished_at": at + number + 0.3,
    }

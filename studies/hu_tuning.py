"""Hu (2023), figures 6 to 8: progress, speed-up and proximity of tuning five applications."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from service.jobs.results import best, course
from service.jobs.schemas import BestView
from service.jobs.service import create
from service.runtime import Runtime
from service.settings import Settings
from storage.records import FINAL_JOB_STATES
from studies.hu_programs import NODES
from studies.laboratory import HU, Laboratory, StudyFailed
from studies.statistics import geometric_mean
from studies.study import Cell, Findings, Plot, Points, Study, Table

__all__ = ["HU_TUNING"]

_DEGREE = 6
_TRIALS, _TRIALS_QUICK = 100, 12
_POLL_SECONDS = 0.5

_PROGRAMS: Mapping[str, Mapping[str, Any]] = {
    "cg": {"class": "A"},
    "mg": {"class": "A"},
    "ft": {"class": "A"},
    "mm": {"n": 1000},
    "graph500": {"scale": 12},
}
_PROGRAMS_QUICK: Mapping[str, Mapping[str, Any]] = {"mg": {"class": "S"}, "mm": {"n": 250}}

_SEARCH = {
    "topology": [
        {"family": "random", "instances": 4},
        {"family": "optimised", "objective": "aspl", "method": "2opt"},
        {"family": "optimised", "objective": "bisection", "method": "2opt"},
    ],
    "ordering": ["hamorder"],
    "mapping": ["by-order"],
    "mpi": ["mpich", "ompi", "mvapich2"],
    "collectives": {
        "alltoall": ["bruck", "2dmesh", "3dmesh", "rdb", "pair", "ring", "basic_linear"],
        "allreduce": ["rdb", "lr", "rab", "rab1", "rab2"],
        "allgather": ["bruck", "2dmesh", "3dmesh", "rdb", "pair", "ring", "spreading_simple"],
        "bcast": ["binomial_tree", "flattree", "scatter_LR_allgather", "scatter_rdb_allgather"],
    },
}
"""Hu (2023), section III B: topology optimisation, MPI implementation, collective algorithms."""

_PAPER_SPEEDUP = {"mg": 2.29}
_PAPER_SHARE = {"cg": 1, "mg": 15, "ft": 31, "mm": 3, "graph500": 1}
_PAPER_MEAN = 1.38


def _run(laboratory: Laboratory) -> Findings:
    programs = _PROGRAMS_QUICK if laboratory.quick else _PROGRAMS
    rows: list[tuple[Cell, ...]] = []
    progress, closeness, gains = [], [], []
    for name, parameters in programs.items():
        laboratory.say(f"tuning {name}")
        found, convergence = _tune(laboratory, name, parameters)
        searched = [p for p in convergence.points if p.kind == "search"]
        numbers = tuple(float(i) for i in range(1, len(searched) + 1))
        bests = tuple(p.best for p in searched)
        progress.append(_points(name.upper(), numbers, bests))
        closeness.append(_points(name.upper(), numbers, tuple(convergence.proximity)))
        grid = min((v for k, v in found.baselines.items() if "mesh" in k or "torus" in k))
        gains.append(convergence.speedup or 1.0)
        rows.append(
            (
                name.upper(),
                round(gains[-1], 3),
                _PAPER_SPEEDUP.get(name),
                round(100 * convergence.share, 1) if convergence.share is not None else None,
                _PAPER_SHARE[name],
                round(grid / found.value, 3),
            )
        )
    rows.append(("mean", round(geometric_mean(gains), 3), _PAPER_MEAN, None, None, None))
    table = Table(
        "Speed-up I = first / best, trials to reach 90% proximity, and gain over the best grid",
        ("program", "I", "paper", "% of trials", "paper", "best grid / best"),
        tuple(rows),
    )
    plots = (
        Plot("progress", "Best so far", "trial", "simulated time, s", tuple(progress), "y"),
        Plot("proximity", "Proximity to the best, C(n)", "trial", "C(n)", tuple(closeness)),
    )
    remark = (
        "I compares the best with the first trial of the search, which is a random one; the last "
        "column compares it with the best of 2-D and 3-D mesh and torus under their MPI's defaults."
    )
    return Findings((table,), plots, (remark,))


def _points(label: str, x: tuple[float, ...], y: tuple[float | None, ...]) -> Points:
    known = [(a, b) for a, b in zip(x, y, strict=True) if b is not None]
    return Points(label, tuple(a for a, _ in known), tuple(b for _, b in known), joined=True)


def _tune(laboratory: Laboratory, name: str, parameters: Mapping[str, Any]) -> tuple[BestView, Any]:
    """Runs a job to its end in the laboratory's own data directory."""
    document = {
        "name": f"hu-{name}",
        "application": {"builtin": name, **parameters, "ranks": NODES},
        "machine": {"nodes": NODES, "degree": _DEGREE, **HU},
        "search": _SEARCH,
        "budget": {"trials": _TRIALS_QUICK if laboratory.quick else _TRIALS},
        "seed": laboratory.seed,
    }
    settings = Settings.under(laboratory.directory / "tuning")
    with Runtime(settings, run=True, only_asked=True) as runtime:
        job = create(runtime.storage, document, None)
        runtime.drive(job.id)
        while job.state not in FINAL_JOB_STATES:
            time.sleep(_POLL_SECONDS)
            job = runtime.storage.get_job(job.id)
        if job.state != "completed":
            raise StudyFailed(f"tuning {name} ended {job.state}: {job.error}")
        return best(runtime.storage, job.id), course(runtime.storage, job.id)


HU_TUNING = Study(
    "hu-figures-6-8",
    "Hu 2023, figures 6 to 8",
    "progress, speed-up and proximity of tuning five applications",
    _run,
    "an hour",
)

"""Hu (2023), figures 6 to 8: progress, speed-up and proximity of tuning five applications."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from service.jobs.service import create
from service.results.schemas import BestView, ConvergenceView
from service.results.service import best, convergence_view
from service.runtime import Runtime
from service.settings import Settings
from storage.records import FINAL_JOB_STATES
from storage.view import StorageView
from studies.hu_programs import NODES
from studies.laboratory import HU, Laboratory
from studies.recordings import StudyFailed
from studies.statistics import geometric_mean
from studies.study import Cell, Claim, Findings, Plot, Points, Study, Table

__all__ = ["HU_TUNING"]

_DEGREE = 6
_TRIALS, _TRIALS_QUICK = 100, 12
_DRAWN, _DRAWN_QUICK = 30, 5
"""Configurations drawn at random, any of which the paper's first trial may have been."""
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
        {"family": "optimised", "objective": ["aspl", "bisection"], "method": "2opt"},
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
_GRIDS = {
    "mesh-2d": "2-D mesh",
    "mesh-3d": "3-D mesh",
    "torus-2d": "2-D torus",
    "torus-3d": "3-D torus",
}


def _run(laboratory: Laboratory) -> Findings:
    programs = _PROGRAMS_QUICK if laboratory.quick else _PROGRAMS
    rows: list[tuple[Cell, ...]] = []
    plots, closeness = [], []
    gains: dict[str, float] = {}
    over_grids: dict[str, float] = {}
    for name, parameters in programs.items():
        laboratory.say(f"tuning {name}")
        found, converged = _tune(laboratory, name, parameters)
        drawn = _drawn(laboratory, name, parameters)
        searched = [p for p in converged.points if p.kind == "search"]
        numbers = tuple(float(i) for i in range(1, len(searched) + 1))
        grids = {label: converged.baselines[key] for key, label in _GRIDS.items()}
        plots.append(_progress(name, numbers, [p.best for p in searched], grids))
        closeness.append(_points(name.upper(), numbers, converged.proximity))
        gains[name] = geometric_mean([seconds / found.value for seconds in drawn])
        over_grids[name] = min(grids.values()) / found.value
        rows.append(
            (
                name.upper(),
                round(gains[name], 3),
                _PAPER_SPEEDUP.get(name),
                round(converged.speedup or 1.0, 3),
                None if converged.share is None else round(100 * converged.share, 1),
                _PAPER_SHARE[name],
                round(over_grids[name], 3),
            )
        )
    mean = geometric_mean(list(gains.values()))
    over = geometric_mean(list(over_grids.values()))
    rows.append(("mean", round(mean, 3), _PAPER_MEAN, None, None, None, round(over, 3)))
    table = Table(
        "Speed-up I = random / best, trials to reach 90% proximity, and gain over the best grid",
        ("program", "I", "paper", "first / best", "% of trials", "paper", "best grid / best"),
        tuple(rows),
    )
    speedups = Points("I", tuple(float(i) for i in range(len(gains))), tuple(gains.values()))
    ticks = tuple(name.upper() for name in gains)
    plots.append(Plot("speedup", "Speed-up by tuning", "", "I", (speedups,), ticks=ticks))
    title = "Proximity to the best, C(n)"
    plots.append(Plot("proximity", title, "trials", "C(n)", tuple(closeness)))
    return Findings((table,), tuple(plots), _claims(gains, mean, over_grids), (_REMARK,))


_REMARK = (
    "The paper's I compares the best with the first trial, drawn at random. Here it is the "
    "geometric mean over such draws, and `first / best` the same with the first trial of our "
    "search, which knows the networks and the baselines before it asks. The last column compares "
    "with the best of 2-D and 3-D mesh and torus in original order under the first MPI "
    "implementation's own choices; they are not in the space, which is the paper's."
)


def _progress(
    name: str, numbers: tuple[float, ...], bests: Sequence[float | None], grids: Mapping[str, float]
) -> Plot:
    ends = (1.0, float(len(numbers)))
    lines = [_points("best so far", numbers, bests)]
    lines += [Points(label, ends, (time, time), joined=True) for label, time in grids.items()]
    title = f"{name.upper()}: best so far, and conventional networks"
    return Plot(f"progress-{name}", title, "trials", "simulated time, s", tuple(lines))


def _claims(
    gains: Mapping[str, float], mean: float, over_grids: Mapping[str, float]
) -> tuple[Claim, ...]:
    lost = [name.upper() for name, gain in over_grids.items() if gain <= 1]
    most = max(gains, key=lambda name: gains[name])
    return (
        Claim(
            f"tuning speeds programs up, by {_PAPER_MEAN} on average",
            f"{mean:.2f} on average",
            mean > 1,
        ),
        Claim(
            "MG gains most, 2.29",
            f"{most.upper()} gains most, {gains[most]:.2f}",
            most == "mg",
            "" if most == "mg" else f"MG gains {gains['mg']:.2f}",
        ),
        Claim(
            "every tuned program beats the 2-D and 3-D meshes and tori",
            f"{len(over_grids) - len(lost)} of {len(over_grids)}",
            not lost,
            f"not: {', '.join(lost)}" if lost else "",
        ),
    )


def _points(label: str, x: Sequence[float], y: Sequence[float | None]) -> Points:
    known = [(a, b) for a, b in zip(x, y, strict=True) if b is not None]
    trials, bests = tuple(a for a, _ in known), tuple(b for _, b in known)
    return Points(label, trials, bests, joined=True, held=True)


def _tune(
    laboratory: Laboratory, name: str, parameters: Mapping[str, Any]
) -> tuple[BestView, ConvergenceView]:
    """Tunes a program, as the paper does."""
    trials = _TRIALS_QUICK if laboratory.quick else _TRIALS
    job = _job(laboratory, name, parameters, {"budget": {"trials": trials}})
    with _ended(laboratory, name, job) as (storage, job_id):
        return best(storage, job_id), convergence_view(storage, job_id)


def _drawn(laboratory: Laboratory, name: str, parameters: Mapping[str, Any]) -> list[float]:
    """Simulated seconds of configurations of the space that are drawn at random."""
    random = {
        "techniques": ["PureRandom"],
        "budget": {"trials": _DRAWN_QUICK if laboratory.quick else _DRAWN},
        "cutoff_factor": None,
    }
    with _ended(laboratory, name, _job(laboratory, name, parameters, random)) as (storage, job_id):
        points = convergence_view(storage, job_id).points
        return [
            p.value
            for p in points
            if p.kind == "search" and p.state == "completed" and p.value is not None
        ]


def _job(
    laboratory: Laboratory, name: str, parameters: Mapping[str, Any], other: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "name": f"hu-{name}",
        "application": {"builtin": name, **parameters, "ranks": NODES},
        "machine": {
            "nodes": NODES,
            "degree": _DEGREE,
            **laboratory.machine(HU),
            "network": laboratory.network,
        },
        "search": _SEARCH,
        "fidelity": "full",
        "seed": laboratory.seed,
        **other,
    }


@contextmanager
def _ended(
    laboratory: Laboratory, name: str, document: dict[str, Any]
) -> Iterator[tuple[StorageView, str]]:
    """Runs a job to its end in the laboratory's own data directory.

    Raises:
        StudyFailed: It did not complete.
    """
    settings = Settings.under(laboratory.directory / "tuning")
    with Runtime(settings, run=True, only_asked=True) as runtime:
        job = create(runtime.storage, document, None)
        runtime.drive(job.id)
        while job.state not in FINAL_JOB_STATES:
            time.sleep(_POLL_SECONDS)
            job = runtime.storage.jobs.get(job.id)
        if job.state != "completed":
            raise StudyFailed(f"tuning {name} ended {job.state}: {job.error}")
        yield runtime.storage, job.id


HU_TUNING = Study(
    "hu-figures-6-8",
    "Hu 2023, figures 6 to 8",
    "progress, speed-up and proximity of tuning five applications",
    _run,
    "an hour",
    network_chosen=True,
)

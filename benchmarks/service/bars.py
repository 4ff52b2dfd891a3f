"""Bars, what was measured against them, and the jobs that are measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.machines import designed


@dataclass(frozen=True)
class Bar:
    """One line of the table."""

    name: str
    bar: str
    measured: str
    met: bool


def short_job(name: str, trials: int, *, batch: int = 8, seed: int = 1) -> dict[str, Any]:
    """A job whose evaluations take milliseconds: four ranks on eight hosts."""
    return {
        "name": name,
        "application": {"builtin": "mg", "class": "S", "ranks": 4},
        "machine": designed(8, 4, network="fluid"),
        "search": {
            "topology": [{"family": "random", "instances": 64}, "mesh-2d"],
            "ordering": ["original", "hamorder"],
            "mpi": ["mpich", "ompi"],
            "collectives": {"allreduce": "all", "bcast": "all"},
        },
        "budget": {"trials": trials},
        "batch": batch,
        "seed": seed,
    }

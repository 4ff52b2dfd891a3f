"""Trials of a job, run on a cluster: what each took, beside what was simulated."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from measuring.clusters import Cluster, Launch, Library, RunFailed
from measuring.sampling import Asked, Sample, Take, sample
from measuring.validation import Candidate

__all__ = ["Program", "measure_candidates", "measure_once"]

_WHOLE = re.compile(r"^whole ([0-9.]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """What is run.

    Attributes:
        command: The program and its arguments.
        ranks: How many of it.
        library: The MPI library that it was built with.
        clock: `programs/whole.c`, built for that library: times it from MPI_Init to MPI_Finalize.
        seconds: When a run is given up.
    """

    command: Sequence[str]
    ranks: int
    library: Library
    clock: Path
    seconds: float


def measure_candidates(
    cluster: Cluster,
    program: Program,
    candidates: Sequence[Candidate],
    asked: Asked,
    *,
    seed: int,
    say: Callable[[Candidate, Sample], None],
) -> dict[Candidate, Sample]:
    """Run a program under each candidate, in turns, until each is known well enough.

    Args:
        cluster: Where it runs.
        program: What is run.
        candidates: Under which configurations.
        asked: How well each is to be known, and how long that may take.
        seed: Of the orders.
        say: Told after each run.
    """

    def run(candidate: Candidate) -> Take:
        return measure_once(cluster, program, export=candidate.export)

    return sample(candidates, run, asked, seed=seed, say=say)


def measure_once(
    cluster: Cluster,
    program: Program,
    *,
    export: Path | None = None,
    rank_hosts: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Take:
    """Run a program once, and time it from MPI_Init to MPI_Finalize.

    Args:
        cluster: Where it runs.
        program: What is run.
        export: See `Launch`.
        rank_hosts: Likewise.
        environment: Likewise.

    Raises:
        RunFailed: It failed, or told no time.
    """
    ran = cluster.run(
        Launch(
            command=program.command,
            ranks=program.ranks,
            library=program.library,
            export=export,
            rank_hosts=rank_hosts,
            environment=environment or {},
            preloaded=[program.clock],
            seconds=program.seconds,
        )
    )
    found = _WHOLE.search(ran.output)
    if found is None:
        raise RunFailed(
            f"{program.command[0]} did not tell its time: it is no MPI program of "
            f"{program.library}, is linked statically, or does not reach MPI_Finalize"
        )
    return Take(float(found[1]), ran.doubts)

"""Truncated traces beside whole ones: cost, error, rank correlation; and jobs that search on them.

    .venv/bin/python -m benchmarks.fidelity [--quick] [--only programs|jobs] [--programs NAME ...]
        [--jobs NAME ...] [--iterations 3] [--configurations 30] [--alternate] [--trials 100]
        [--output FILE.json]

On two quiet cores: `--quick` about 3 minutes; whole, the programs about 25 minutes (a third of
them captures of class A) and the jobs about 20. `--only`, `--programs` and `--jobs` run parts.

For each program, random configurations of one search space are evaluated on the whole and on the
truncated trace; configurations that do not complete are left out. Each trace is measured as a job
uses it, which searches on the truncated trace alone and verifies in the end: all configurations in
a row on the whole trace, then all on the truncated one. With `--alternate` each evaluation of the
truncated trace follows one of the whole, in which time other processes empty the caches.
Reported are the ratio of the CPU seconds of all of them together, the error of the estimate against
the whole (median and largest), the error that the estimate itself reports (median), and Kendall's
tau between the two rankings. A bar is printed as MET or MISSED: Kendall's tau of every program that
has a loop, and the ratio where the program makes 100 iterations or more; the exit status is 1 if
one is missed. Iterations are what the program's specification calls so (`iterations_of`): time
steps, steps of a solver, repeats of a measurement; not loops within, such as LU's sweep over the
planes of a time step. Below 100 the ratio is printed without a bar.

For each job, the same job file is run with `fidelity: full` and `auto`, each in a fresh data
directory. Reported are the simulator's CPU seconds, their share, and the verified best of `auto`
over that of `full`.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from scipy.stats import kendalltau

from benchmarks.job import hamtune
from benchmarks.machines import designed
from searchspace.collectives import Groups, called_collectives
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.job import JobSpec, build_space, load_job
from searchspace.kernels import trace_summary
from searchspace.platform import resolve
from searchspace.truncation import ITERATIONS as KEPT_ITERATIONS
from searchspace.truncation import truncate
from workers.capture import capture_builtin
from workers.simulator_client import Simulator, simulator_version

COMMUNICATION: dict[str, dict[str, Any]] = {
    "stencil3d": {"points": 32, "iterations": 100},
    "collective": {"operation": "alltoall", "bytes": 4096, "repeats": 100},
    "pingpong": {"bytes": 1024, "repeats": 20},
    "beff": {"longest": 65536, "repeats": 3},
    "fft1d": {"log2n": 16},
    "graph500": {"scale": 10, "searches": 32},
}
"""Programs without classes, and what they run."""
ITERATIONS_OF_CLASS = {
    "cg": {"S": 15 * 25, "A": 15 * 25},  # outer steps of 25 iterations of conjugate gradients
    "mg": {"S": 4, "A": 4},
    "ft": {"S": 6, "A": 6},
    "is": {"S": 10, "A": 10},
    "bt": {"S": 60, "W": 200},
    "sp": {"S": 100, "A": 400},
    "lu": {"S": 50, "W": 300, "A": 250},
    "ep": {"S": 1, "A": 1},
}
"""What the specifications of the NAS Parallel Benchmarks have the programs do."""
ITERATIONS = {
    "mm": 16,  # panels of a matrix of order 1000 on 16 ranks
    "fft1d": 1,
    **{name: parameters[key] for name, parameters in COMMUNICATION.items()
       for key in ("iterations", "repeats", "searches") if key in parameters},
}  # fmt: skip
PROGRAMS = {
    "cg.A": 64, "mg.A": 64, "ft.A": 64, "is.A": 64, "mm": 16,
    "bt.W": 16, "sp.A": 16, "lu.A": 16, "ep.A": 16,
    **dict.fromkeys(COMMUNICATION, 16),
}  # fmt: skip
"""Programs, classes and ranks."""
QUICK = {
    "cg.S": 16, "mg.S": 16, "ft.S": 16, "is.S": 16, "mm": 16,
    "bt.S": 16, "sp.S": 16, "lu.S": 16, "lu.W": 16, "ep.S": 16,
    **dict.fromkeys(COMMUNICATION, 16),
}  # fmt: skip
JOBS = {"cg.A": 64, "bt.W": 16, "sp.A": 16, "lu.A": 16}
QUICK_JOBS = {"cg.S": 16}
CONFIGURATIONS = 30
TRIALS = 100
MOST_WALL_SECONDS = 120  # of an evaluation, here
BARS = {"cost": 20.0, "tau": 0.9, "share": 0.2, "best": 1.01}
MANY_ITERATIONS = 100  # from here on the bar of the cost holds


class Verdicts:
    """Prints and counts whether bars are met."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def judge(self, what: str, value: float, bar: float, *, at_least: bool) -> None:
        """Compare a figure with its bar."""
        met = value >= bar if at_least else value <= bar
        line = f"{what} {value:.3f} (bar: {'at least' if at_least else 'at most'} {bar:g})"
        print(f"{'':10}{'MET' if met else 'MISSED':7} {line}", flush=True)
        if not met:
            self.missed.append(line)


def iterations_of(name: str) -> int:
    """The iterations of a program, named as in `PROGRAMS`."""
    program, _, class_ = name.partition(".")
    return ITERATIONS_OF_CLASS[program][class_] if class_ else ITERATIONS[program]


def job_of(name: str, ranks: int, trials: int) -> dict[str, Any]:
    """A job over networks, orderings, MPI implementations and algorithms, Hu's machine."""
    program, _, class_ = name.partition(".")
    return {
        "name": f"fidelity-{name}",
        "application": {
            "builtin": program,
            "ranks": ranks,
            **({"class": class_} if class_ else COMMUNICATION.get(name, {})),
        },
        "machine": designed(
            ranks, 6 if ranks >= 64 else 4, switch_bandwidth="10Pbps", network="fluid"
        ),
        "search": {
            "topology": [{"family": "random", "instances": 8}, "torus-2d", "mesh-2d"],
            "ordering": ["original", "hamorder"],
            "mpi": ["mpich", "ompi", "mvapich2"],
            "collectives": dict.fromkeys(
                ("alltoall", "alltoallv", "allreduce", "allgather", "bcast", "reduce"), "all"
            ),
        },
        "budget": {"trials": trials},
        "seed": 1,
    }


def random_configurations(
    spec: JobSpec, ranks: int, called: dict[str, Groups], count: int
) -> list[Configuration]:
    """Feasible points of the space, or all there are."""
    space = build_space(spec, ranks, called).space
    generator = random.Random("fidelity")
    chosen: dict[str, Configuration] = {}
    for _ in range(50 * count):
        point = space.sample(generator)
        if space.infeasible(point) is None:
            chosen.setdefault(point.sha256, point)
        if len(chosen) == count:
            break
    return list(chosen.values())


def in_turns(
    requests: list[dict[str, Any]], simulators: Sequence[Simulator], turns: int
) -> list[tuple[dict[str, Any], ...]]:
    """The answers of each simulator to each request, as many in a row as make so many turns."""
    row = math.ceil(len(requests) / turns)
    answers: list[tuple[dict[str, Any], ...]] = []
    for first in range(0, len(requests), row):
        answers += zip(
            *(
                [
                    simulator.evaluate(request, wall_seconds=MOST_WALL_SECONDS)
                    for request in requests[first : first + row]
                ]
                for simulator in simulators
            ),
            strict=True,
        )
    return answers


def measure_program(
    name: str, ranks: int, count: int, iterations: int, *, alternate: bool
) -> dict[str, Any]:
    """Whole and truncated trace of one program side by side."""
    spec = load_job(job_of(name, ranks, 1))
    program, _, class_ = name.partition(".")
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        whole, short = Path(scratch) / "whole.ht", Path(scratch) / "short.ht"
        parameters = COMMUNICATION.get(name, {})
        capture_builtin(program, class_ or None, ranks, parameters, whole)
        called = called_collectives(trace_summary(whole))
        try:
            truncation = truncate(whole, short, iterations)
        except InvalidInput as reason:
            return {"obstacle": str(reason)}
        requests = [
            resolve(point, spec.described_machine, ranks, collectives=called).simulator_request()
            for point in random_configurations(spec, ranks, called, count)
        ]
        with Simulator([whole]) as exactly, Simulator([short]) as estimating:
            answers = in_turns(requests, (exactly, estimating), len(requests) if alternate else 1)
    pairs = [
        (exact, estimate)
        for exact, estimate in answers
        if exact["status"] == "completed" and estimate["status"] == "completed"
    ]
    exact_times = [exact["simulated_time"] for exact, _ in pairs]
    times = [estimate["simulated_time"] for _, estimate in pairs]
    errors = [abs(time / exact - 1) for exact, time in zip(exact_times, times, strict=True)]
    costs = [sum(answer["cpu_seconds"] for answer in column) for column in zip(*pairs, strict=True)]
    return {
        "ranks": ranks,
        "configurations": len(pairs),
        "of": len(requests),
        "iterations": iterations_of(name),
        "share_of_operations": truncation.share,
        "cpu_seconds_whole": costs[0] / len(pairs),
        "cpu_seconds_truncated": costs[1] / len(pairs),
        "cost_ratio": costs[0] / costs[1],
        "median_error": statistics.median(errors),
        "largest_error": max(errors),
        "median_reported_error": statistics.median(e["estimate"]["error"] for _, e in pairs),
        "tau": float(kendalltau(exact_times, times)[0]),
    }


def measure_job(name: str, ranks: int, trials: int) -> dict[str, Any]:
    """The same job with `fidelity: full` and `auto`."""
    row: dict[str, Any] = {}
    for fidelity in ("full", "auto"):
        with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
            data = Path(scratch)
            job_file = data / "job.yaml"
            job_file.write_text(
                yaml.safe_dump({**job_of(name, ranks, trials), "fidelity": fidelity})
            )
            result, _ = hamtune(data / "data", "run", str(job_file), workers=2)
        row[fidelity] = {
            "cpu_seconds": result["job"]["progress"]["cpu_seconds"],
            "evaluations": result["job"]["progress"]["evaluations"],
            "best": result["best"]["value"],
            "trial": result["best"]["trial"],
        }
    row["share"] = row["auto"]["cpu_seconds"] / row["full"]["cpu_seconds"]
    row["best"] = row["auto"]["best"] / row["full"]["best"]
    return row


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="Small classes.")
    parser.add_argument("--only", choices=("programs", "jobs"), help="One of the two parts.")
    parser.add_argument("--programs", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", nargs="*", metavar="NAME")
    parser.add_argument("--iterations", type=int, default=KEPT_ITERATIONS)
    parser.add_argument("--configurations", type=int)
    parser.add_argument("--alternate", action="store_true", help="Traces by turns, one by one.")
    parser.add_argument("--trials", type=int, help="Search trials of each job.")
    parser.add_argument("--output", type=Path)
    return parser


def _judge_program(name: str, row: dict[str, Any], verdicts: Verdicts) -> None:
    """Prints the row of a program and holds it against the bars."""
    print(
        f"{name:10}{row['configurations']:3}/{row['of']:<3}"
        f"{row['iterations']:11}{row['cpu_seconds_whole']:13.3f}{row['cpu_seconds_truncated']:11.3f}"
        f"{row['cost_ratio']:7.1f}{row['median_error']:15.1e}{row['largest_error']:9.1e}"
        f"{row['median_reported_error']:10.1e}{row['tau']:7.3f}",
        flush=True,
    )
    verdicts.judge(f"{name}: tau", row["tau"], BARS["tau"], at_least=True)
    if row["iterations"] >= MANY_ITERATIONS:
        verdicts.judge(f"{name}: times cheaper", row["cost_ratio"], BARS["cost"], at_least=True)
    else:
        print(f"{'':10}no bar  {name}: times cheaper: fewer than {MANY_ITERATIONS} iterations")


def _judge_job(name: str, row: dict[str, Any], verdicts: Verdicts) -> None:
    """Prints the row of a job and holds it against the bars."""
    print(
        f"{name:10}{row['full']['cpu_seconds']:13.1f}{row['auto']['cpu_seconds']:9.1f}"
        f"{row['share']:8.2f}{row['best']:18.4f}",
        flush=True,
    )
    verdicts.judge(f"job {name}: share of CPU", row["share"], BARS["share"], at_least=False)
    verdicts.judge(f"job {name}: best, auto / full", row["best"], BARS["best"], at_least=False)


def main() -> int:
    """Measure, print tables and write JSON; bars that are missed are named, and make it fail."""
    parser = _parser()
    options = parser.parse_args()
    programs, jobs = (QUICK, QUICK_JOBS) if options.quick else (PROGRAMS, JOBS)
    all_programs, all_jobs = {**QUICK, **PROGRAMS}, {**QUICK_JOBS, **JOBS}
    count = options.configurations or CONFIGURATIONS
    trials = options.trials or TRIALS
    report: dict[str, Any] = {
        "simulator": simulator_version(),
        "alternate": options.alternate,
        "programs": {},
        "jobs": {},
    }
    verdicts = Verdicts()
    if options.only == "jobs":
        programs = {}
    if options.only == "programs":
        jobs = {}

    print(
        f"{'':10} configs  iterations  CPU s whole  truncated  ratio  error: median  largest"
        "  reported    tau"
    )
    for name in programs if options.programs is None else options.programs:
        if name not in all_programs:
            parser.error(f"{name} is none of {', '.join(all_programs)}")
        row = measure_program(
            name, all_programs[name], count, options.iterations, alternate=options.alternate
        )
        report["programs"][name] = row
        if "obstacle" in row:
            print(f"{name:10} {row['obstacle']}")
            continue
        _judge_program(name, row, verdicts)
    print(f"\n{'':10}   CPU s full     auto   share   best auto / best full")
    for name in jobs if options.jobs is None else options.jobs:
        if name not in all_jobs:
            parser.error(f"{name} is none of {', '.join(all_jobs)}")
        row = measure_job(name, all_jobs[name], trials)
        report["jobs"][name] = row
        _judge_job(name, row, verdicts)
    missed = verdicts.missed
    print("all bars MET" if not missed else f"{len(missed)} MISSED: " + "; ".join(missed))
    if options.output:
        options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

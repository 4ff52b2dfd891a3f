"""Truncated traces beside whole ones: cost, error, rank correlation; and jobs that search on them.

    .venv/bin/python -m benchmarks.fidelity [--quick] [--only programs|jobs] [--programs NAME ...]
        [--jobs NAME ...] [--iterations 3] [--configurations 30] [--alternate] [--trials 100]
        [--output benchmarks/fidelity.json]
    .venv/bin/python -m benchmarks.fidelity --only table

The first measures, on two quiet cores, `--quick` in about 3 minutes, all in about half an hour; a
name is a program and its class, on 16 ranks under the fluid model or as it says:
`cg.A@64+packets`.
`--only`, `--programs` and `--jobs` run parts. The second writes the tables of docs/benchmarks.md of
`benchmarks/fidelity.json`.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from scipy.stats import kendalltau

from benchmarks.job import hamtune
from benchmarks.machines import designed
from benchmarks.packets.bars import Bars
from benchmarks.provenance import measured_now
from benchmarks.tables_in_docs import write_table
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


@dataclass(frozen=True)
class Case:
    """A program and its class, on so many ranks, under a model of messages."""

    program: str
    ranks: int = 16
    network: str = "fluid"

    @property
    def name(self) -> str:
        """What it is called where it is chosen."""
        ranks = "" if self.ranks == 16 else f"@{self.ranks}"
        return self.program + ranks + ("" if self.network == "fluid" else f"+{self.network}")


QUICK = (
    *map(Case, ("cg.S", "mg.S", "ft.S", "is.S", "mm")),
    *map(Case, ("bt.S", "sp.S", "lu.S", "lu.W", "ep.S")),
    *map(Case, COMMUNICATION),
)
CASES = (
    *QUICK,
    *(Case(name, 64) for name in ("cg.A", "mg.A", "ft.A", "is.A")),
    *map(Case, ("bt.W", "sp.A", "lu.A", "ep.A")),
    *(Case(name, 16, "packets") for name in ("cg.A", "bt.W", "sp.A", "lu.A", "stencil3d")),
    Case("cg.A", 64, "packets"),
)
JOBS = {"cg.A": 64, "bt.W": 16, "sp.A": 16, "lu.A": 16}
QUICK_JOBS = {"cg.S": 16}
CONFIGURATIONS = 30
TRIALS = 100
MOST_WALL_SECONDS = 120  # of an evaluation, here
PAGE = "benchmarks.md"
RESULTS = Path(__file__).with_suffix(".json")
BARS = {"cost": 20.0, "tau": 0.9, "share": 0.2, "best": 1.01}
MANY_ITERATIONS = 100  # from here on the bar of the cost holds


def iterations_of(name: str) -> int:
    """The iterations of a program, named as in `PROGRAMS`."""
    program, _, class_ = name.partition(".")
    return ITERATIONS_OF_CLASS[program][class_] if class_ else ITERATIONS[program]


def job_of(name: str, ranks: int, trials: int, network: str = "fluid") -> dict[str, Any]:
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
            ranks, 6 if ranks >= 64 else 4, switch_bandwidth="10Pbps", network=network
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


def measure_program(case: Case, count: int, iterations: int, *, alternate: bool) -> dict[str, Any]:
    """Whole and truncated trace of one program side by side."""
    name, ranks = case.program, case.ranks
    spec = load_job(job_of(name, ranks, 1, case.network))
    program, _, class_ = name.partition(".")
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        whole, short = Path(scratch) / "whole.ht", Path(scratch) / "short.ht"
        parameters = COMMUNICATION.get(name, {})
        capture_builtin(program, class_ or None, ranks, parameters, whole)
        called = called_collectives(trace_summary(whole))
        try:
            truncation = truncate(whole, short, iterations)
        except InvalidInput as reason:
            return {"program": name, "obstacle": str(reason)}
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
        "program": name,
        "ranks": ranks,
        "network": case.network,
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
    row: dict[str, Any] = {"program": name, "ranks": ranks}
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


def fidelity_tables() -> dict[str, str]:
    """The tables of the documentation, by name, as the results have them."""
    figures = json.loads(RESULTS.read_text())
    programs = [row for row in figures["programs"] if "obstacle" not in row]
    return {
        "truncated traces": _table(
            f"{figures['date']}, {figures['simulator']} | ranks | messages | iterations | ms whole"
            " | ms truncated | times cheaper | median error | largest | reported | Kendall tau",
            [
                [
                    row["program"],
                    str(row["ranks"]),
                    row["network"],
                    str(row["iterations"]),
                    f"{1000 * row['cpu_seconds_whole']:.3g}",
                    f"{1000 * row['cpu_seconds_truncated']:.3g}",
                    f"{row['cost_ratio']:.1f}{_verdict(row)}",
                    *(f"{row[f'{which}_error']:.1e}" for which in ("median", "largest")),
                    f"{row['median_reported_error']:.1e}",
                    f"{row['tau']:.3f}{'' if row['tau'] >= BARS['tau'] else ' (MISSED)'}",
                ]
                for row in programs
            ],
        ),
        "jobs on truncated traces": _table(
            "program | ranks | CPU s full | CPU s auto | share | verified best, auto / full",
            [
                [
                    row["program"],
                    str(row["ranks"]),
                    *(f"{row[fidelity]['cpu_seconds']:.1f}" for fidelity in ("full", "auto")),
                    f"{row['share']:.3f}",
                    f"{row['best']:.4f}",
                ]
                for row in figures["jobs"]
            ],
        ),
    }


def _verdict(row: dict[str, Any]) -> str:
    if row["iterations"] < MANY_ITERATIONS:
        return ""
    return " (MET)" if row["cost_ratio"] >= BARS["cost"] else " (MISSED)"


def _table(heads: str, rows: list[list[str]]) -> str:
    rule = "|---" * (heads.count(" | ") + 1)
    lines = [heads, *(" | ".join(row) for row in rows)]
    first, *others = (f"| {line.lstrip()} |\n" for line in lines)
    return first + f"{rule}|\n" + "".join(others)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="Small classes.")
    parser.add_argument("--only", choices=("programs", "jobs", "table"), help="One of the parts.")
    parser.add_argument("--programs", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", nargs="*", metavar="NAME")
    parser.add_argument("--iterations", type=int, default=KEPT_ITERATIONS)
    parser.add_argument("--configurations", type=int, default=CONFIGURATIONS)
    parser.add_argument("--alternate", action="store_true", help="Traces by turns, one by one.")
    parser.add_argument("--trials", type=int, default=TRIALS, help="Search trials of each job.")
    parser.add_argument("--output", type=Path)
    return parser


def _show_program(case: Case, row: dict[str, Any], bars: Bars) -> None:
    """Prints the row of a program and holds it against the bars."""
    if "obstacle" in row:
        print(f"{case.name:20} {row['obstacle']}", flush=True)
        return
    print(
        f"{case.name:20}{row['configurations']:3}/{row['of']:<3}"
        f"{row['iterations']:11}{row['cpu_seconds_whole']:13.3f}{row['cpu_seconds_truncated']:11.3f}"
        f"{row['cost_ratio']:7.1f}{row['median_error']:15.1e}{row['largest_error']:9.1e}"
        f"{row['median_reported_error']:10.1e}{row['tau']:7.3f}",
        flush=True,
    )
    bars.at_least(f"{case.name}: tau", row["tau"], BARS["tau"])
    if row["iterations"] >= MANY_ITERATIONS:
        bars.at_least(f"{case.name}: times cheaper", row["cost_ratio"], BARS["cost"])


def _chosen(parser: argparse.ArgumentParser, named: list[str] | None, known: dict[str, Any],
            usual: Sequence[str]) -> list[str]:  # fmt: skip
    for name in named or ():
        if name not in known:
            parser.error(f"{name} is none of {', '.join(known)}")
    return list(usual) if named is None else named


def main() -> int:
    """Measure, print tables and write JSON; bars that are missed are named, and make it fail."""
    parser = _parser()
    options = parser.parse_args()
    if options.only == "table":
        for name, table in fidelity_tables().items():
            write_table(PAGE, name, table)
        return 0
    cases = {case.name: case for case in CASES}
    chosen = _chosen(
        parser,
        options.programs,
        cases,
        [case.name for case in QUICK] if options.quick else [*cases],
    )
    jobs = _chosen(
        parser, options.jobs, {**QUICK_JOBS, **JOBS}, [*(QUICK_JOBS if options.quick else JOBS)]
    )
    bars = Bars()
    report: dict[str, Any] = {
        **measured_now(),
        "simulator": simulator_version(),
        "alternate": options.alternate,
        "programs": [],
        "jobs": [],
    }
    print(
        f"{'':20} configs  iterations  CPU s whole  truncated  ratio  error: median  largest"
        "  reported    tau"
    )
    for name in [] if options.only == "jobs" else chosen:
        row = measure_program(
            cases[name], options.configurations, options.iterations, alternate=options.alternate
        )
        report["programs"].append(row)
        _show_program(cases[name], row, bars)
    for name in [] if options.only == "programs" else jobs:
        row = measure_job(name, {**QUICK_JOBS, **JOBS}[name], options.trials)
        report["jobs"].append(row)
        print(f"{name:20}{row['full']['cpu_seconds']:9.1f}{row['auto']['cpu_seconds']:9.1f} CPU s")
        bars.at_most(f"job {name}: share of CPU", row["share"], BARS["share"])
        bars.at_most(f"job {name}: best, auto / full", row["best"], BARS["best"])
    if options.output:
        options.output.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if bars.missed else 0


if __name__ == "__main__":
    sys.exit(main())

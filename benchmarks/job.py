"""What tuning jobs cost beside their simulations, and what a cached repeat costs.

    .venv/bin/python -m benchmarks.job [--workers 2] [JOB ...]
    .venv/bin/python -m benchmarks.job --keep
    .venv/bin/python -m benchmarks.job table

Runs each JOB twice through the command line in a fresh data directory, after a small warm-up job,
so that the capture of the program is not part of the measurement, and reports

- wall seconds of the job against (CPU seconds of the simulator / workers);
- CPU seconds of everything that is not simulation, a trial, the start of all processes included;
- the simulations of the repeat, which finds every evaluation in the cache.

The exit status tells whether the bars are met. All take two minutes. `--keep` measures all and
writes benchmarks/job.json and its table in docs/benchmarks.md, `table` only the table of what was
kept.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.packets.bars import Bars
from benchmarks.provenance import measured_now
from benchmarks.tables_in_docs import write_table
from service.version import VERSION
from workers.simulator_client import simulator_version

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).with_suffix(".json")
PAGE, TABLE = "benchmarks.md", "a job"

WALL_BAR = 1.15
"""Times the simulator's CPU seconds by worker, where simulations take most of the time."""
_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h


@dataclass(frozen=True)
class Job:
    """A job that is measured.

    Attributes:
        title: What it tunes.
        content: Of its job file.
        other_bar: CPU milliseconds a trial beside the simulation.
        simulates: Whether simulations are to take most of its time.
    """

    title: str
    content: Mapping[str, Any]
    other_bar: float
    simulates: bool = False


def _example() -> Mapping[str, Any]:
    """`examples/cg-64.yaml` as a fluid.

    Comparisons of packets with it, one at a time, would hide how busy workers are kept.
    """
    content: dict[str, Any] = yaml.safe_load((ROOT / "examples" / "cg-64.yaml").read_text())
    return content | {"machine": {"network": "fluid", **content["machine"]}}


def _packets(trials: int, seed: int) -> Mapping[str, Any]:
    """Simulations of milliseconds, so that all else is what counts."""
    return {
        "name": "ft",
        "application": {"builtin": "ft", "class": "S", "ranks": 16},
        "machine": {
            "nodes": 16,
            "degree": 4,
            "host_speed": "100Gf",
            "link_bandwidth": "40Gbps",
            "switch_latency": "60ns",
            "network": "packets",
        },
        "search": {
            "topology": [{"family": "random", "instances": 8}, "mesh-2d", "torus-2d"],
            "ordering": ["original", "hamorder"],
            "mpi": ["mpich", "ompi"],
            "collectives": dict.fromkeys(("alltoall", "allreduce", "bcast", "reduce"), "all"),
        },
        "budget": {"trials": trials},
        "seed": seed,
    }


JOBS: Mapping[str, Job] = {
    "cg-64": Job("CG.A, 64 ranks, fluid, 100 trials", _example(), 60.0, simulates=True),
    "ft-16": Job("FT.S, 16 ranks, packets, 100 trials", _packets(100, 78), 60.0),
    "ft-16-long": Job("FT.S, 16 ranks, packets, 1,000 trials", _packets(1000, 12), 100.0),
}


def hamtune(data: Path, *arguments: str, workers: int) -> tuple[Any, float]:
    """Run one command; returns its JSON document and the CPU seconds of its whole process tree."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.run(
        [str(ROOT / "hamtune"), *arguments, "--json"],
        env={**os.environ, "HAMTUNE_DATA": str(data), "HAMTUNE_CONCURRENCY": str(workers)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    # Simulators that the command did not wait for have come to this process.
    with suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(process.stdout), cpu


def _once(data: Path, job_file: Path, workers: int) -> dict[str, float]:
    """Run the job once and set its wall and CPU seconds beside those of its simulations."""
    result, cpu = hamtune(data, "run", str(job_file), workers=workers)
    job = result["job"]
    simulated = job["progress"]["cpu_seconds"]
    trials = job["progress"]["finished"]
    wall = job["active_seconds"]
    return {
        "trials": trials,
        "simulations": job["progress"]["evaluations"],
        "wall_seconds": wall,
        "simulator_cpu_seconds": simulated,
        "wall_over_ideal": wall / (simulated / workers) if simulated else 0.0,
        "other_cpu_ms_per_trial": 1000 * (cpu - simulated) / trials,
        "best": result["best"]["value"],
    }


def measure(job: Job, workers: int) -> dict[str, dict[str, float]]:
    """A fresh run of a job and one that finds all its evaluations in the cache."""
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        data = Path(scratch)
        job_file = data / "job.yaml"
        job_file.write_text(yaml.safe_dump(dict(job.content)))
        # Another seed, so that its evaluations do not answer for those that are measured.
        warm_up = {**job.content, "name": "warm-up", "seed": 424242, "budget": {"trials": 1}}
        warm_up_file = data / "warm-up.yaml"
        warm_up_file.write_text(yaml.safe_dump(warm_up))
        hamtune(data / "data", "run", str(warm_up_file), workers=workers)
        return {
            "fresh": _once(data / "data", job_file, workers),
            "cached": _once(data / "data", job_file, workers),
        }


def hold(bars: Bars, name: str, measured: Mapping[str, Mapping[str, float]]) -> None:
    """Hold what was measured of a job against its bars."""
    job, fresh, cached = JOBS[name], measured["fresh"], measured["cached"]
    print(name, flush=True)
    if job.simulates:
        bars.at_most("wall over ideal", fresh["wall_over_ideal"], WALL_BAR)
    other = fresh["other_cpu_ms_per_trial"]
    bars.at_most("CPU ms a trial beside the simulation", other, job.other_bar)
    bars.at_most("simulations of the cached repeat", cached["simulations"], 0)
    bars.at_most("what both best differ by, s", abs(cached["best"] - fresh["best"]), 0.0)


def job_table() -> str:
    """The table of the documentation, as the results have it."""
    kept = json.loads(RESULTS.read_text())
    lines = [
        f"| {kept['date']}, Hamtune {kept['hamtune']}, {kept['workers']} workers "
        "| trials and baselines | wall s | simulator CPU s | wall / (simulator CPU / workers) "
        "| CPU ms a trial beside the simulation | repeated: wall s | repeated: CPU ms a trial |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, measured in kept["jobs"].items():
        job, fresh, cached = JOBS[name], measured["fresh"], measured["cached"]
        ideal = _held(fresh["wall_over_ideal"], 2, WALL_BAR) if job.simulates else "-"
        lines.append(
            f"| `{name}`: {job.title} | {fresh['trials']} | {fresh['wall_seconds']:.1f} "
            f"| {fresh['simulator_cpu_seconds']:.1f} | {ideal} "
            f"| {_held(fresh['other_cpu_ms_per_trial'], 1, job.other_bar)} "
            f"| {cached['wall_seconds']:.1f} | {cached['other_cpu_ms_per_trial']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def _held(value: float, digits: int, bar: float) -> str:
    return f"{value:.{digits}f} (bar {bar:g}: {'met' if value <= bar else 'MISSED'})"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*JOBS, "table"]
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=", ".join(names))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help=f"write {RESULTS.name} and the table")
    options = parser.parse_args()
    unknown = set(options.jobs) - set(names)
    if unknown:
        parser.error(f"there is no job {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if options.jobs and options.keep:
        parser.error("--keep measures all jobs; name none")
    if "table" in options.jobs and len(options.jobs) > 1:
        parser.error("`table` stands alone")
    return options


def main() -> int:
    """Measure the jobs that are named, or all; print what they cost, hold it against the bars."""
    options = _options()
    if options.jobs == ["table"]:
        write_table(PAGE, TABLE, job_table())
        return 0
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1)
    bars, measured = Bars(), {}
    for name in options.jobs or JOBS:
        measured[name] = measure(JOBS[name], options.workers)
        print(json.dumps({name: measured[name]}, indent=2), flush=True)
        hold(bars, name, measured[name])
    if options.keep:
        kept = {
            **measured_now(),
            "hamtune": VERSION,
            "simulator": simulator_version(),
            "workers": options.workers,
            "jobs": measured,
        }
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
        write_table(PAGE, TABLE, job_table())
    return 1 if bars.missed else 0


if __name__ == "__main__":
    sys.exit(main())

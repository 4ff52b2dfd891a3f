"""What a tuning job costs beside its simulations, and what a cached repeat costs.

    .venv/bin/python -m benchmarks.job [--job FILE] [--workers 2] [--output FILE.json]

Runs the job file twice through the command line in one fresh data directory (after a small warm-up
job, so that the capture of the program is not part of the measurement) and reports

- wall seconds of the job against (CPU seconds of the simulator / workers);
- CPU seconds of everything that is not simulation, a trial;
- the simulations of the repeat, which finds every evaluation in the cache.

The exit status tells whether the bars are met. With examples/cg-64.yaml it takes two minutes.
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
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent

WALL_BAR = 1.15
"""Times the simulator's CPU seconds by worker."""
OTHER_BAR = 60.0
"""CPU milliseconds a trial beside the simulation."""
_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h


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


def measure(data: Path, job_file: Path, workers: int) -> dict[str, float]:
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


def main() -> int:
    """Measure a fresh and a cached run of the job and print both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--job", type=Path, default=ROOT / "examples" / "cg-64.yaml")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1)
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        data = Path(scratch)
        job = yaml.safe_load(options.job.read_text())
        # Earlier figures are of the fluid model; comparisons with it, one at a time, would hide how
        # well workers are kept busy.
        job["machine"] = {"network": "fluid", **job["machine"]}
        job_file = data / "job.yaml"
        job_file.write_text(yaml.safe_dump(job))
        # Another seed, so that its evaluations do not answer for those that are measured.
        warm_up = job | {"name": "warm-up", "seed": 424242, "budget": {"trials": 1}}
        warm_up_file = data / "warm-up.yaml"
        warm_up_file.write_text(yaml.safe_dump(warm_up))
        hamtune(data / "data", "run", str(warm_up_file), workers=options.workers)
        report = {
            "fresh": measure(data / "data", job_file, options.workers),
            "cached": measure(data / "data", job_file, options.workers),
        }
    print(json.dumps(report, indent=2))
    if options.output:
        options.output.write_text(json.dumps(report, indent=2) + "\n")
    fresh, cached = report["fresh"], report["cached"]
    bars = {
        f"wall over ideal at most {WALL_BAR}": fresh["wall_over_ideal"] <= WALL_BAR,
        f"other CPU below {OTHER_BAR:.0f} ms a trial": 0
        < fresh["other_cpu_ms_per_trial"]
        < OTHER_BAR,
        "the cached repeat simulates nothing": cached["simulations"] == 0,
        "the cached repeat has the same best": cached["best"] == fresh["best"],
    }
    for bar, met in bars.items():
        print(f"{bar}: {'MET' if met else 'MISSED'}")
    return 0 if all(bars.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

"""A whole job of thousands of ranks: what it takes, and where that goes."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.machines import designed
from benchmarks.packets.bars import Bars
from benchmarks.packets.traces import stencil
from benchmarks.scale.accounts import Accounts, accounting
from benchmarks.scale.memory import PeakMemory
from searchspace.configuration import Configuration
from searchspace.job import load_new_job
from service.runtime import Runtime
from service.settings import Settings
from storage.records import FINAL_JOB_STATES, Trial
from storage.storage import Storage
from tuner.search_process import end_server

__all__ = ["BARS", "describe", "show_job"]

WORKERS = 2
BARS = {1024: (240.0, 24.0), 4096: (1200.0, 16.0)}
"""Seconds of the clock where nothing else runs, and GiB, by ranks."""

_LOOK_SECONDS, _SAY_SECONDS = 0.5, 30.0
_GIB = 2**30
_ITERATIONS, _POINTS = 100, 64
_DEAREST = 8


def describe(ranks: int, trials: int, trace: Path) -> dict[str, Any]:
    """The job: network x ordering x mapping x collectives for a stencil."""
    return {
        "name": f"stencil-{ranks}",
        "application": {"trace": str(trace)},
        "machine": designed(ranks, 6),
        "search": {
            "topology": [{"family": "random", "instances": 20}, "torus-3d", "torus-2d"],
            "ordering": ["original", "hamorder", "gorder", "rcm"],
            "mapping": ["packed", "greedy", "recursive-tree", "rcm"],
            "collectives": {"allreduce": "all", "reduce": "all", "barrier": "all"},
        },
        "budget": {"trials": trials},
        "seed": 1,
    }


def show_job(ranks: int, trials: int, bars: Bars) -> dict[str, Any]:
    """Run the job to its end and print what it took; gives the figures.

    Raises:
        RuntimeError: It did not complete.
    """
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        data = Path(scratch)
        trace = stencil(data / "stencil.ht", ranks, _POINTS, _ITERATIONS)
        spec = load_new_job(describe(ranks, trials, trace))
        settings = replace(Settings.under(data / "data"), concurrency=WORKERS)
        began, before = time.monotonic(), _cpu_seconds()
        with PeakMemory() as memory, accounting() as accounts:
            with Runtime(settings, run=True, only_asked=True) as runtime:
                storage = runtime.storage
                job = storage.jobs.create(spec=spec.canonical(), name=spec.name, seed=spec.seed)
                runtime.drive(job.id)
                _wait(storage, job.id)
                wall = time.monotonic() - began
                found = storage.trials.of_job(job.id, limit=10 * trials)
            end_server()  # what the search took counts once its process has ended
            after = _cpu_seconds()
    own, others = (after[index] - before[index] for index in (0, 1))
    own -= memory.cpu_seconds
    # A simulator that is ended with its ranks standing ready is killed, and nobody counts what its
    # children took; the answers tell it. What else was started is the tuner's process.
    simulated = sum(trial.cpu_seconds or 0.0 for trial in found if not trial.cached)
    figures = {
        "ranks": ranks,
        "trials": len(found),
        "wall_seconds": wall,
        "cpu_seconds": own + max(others, simulated),
        "peak_bytes": memory.bytes,
        "evaluations": _evaluations(found),
        "parts": _parts(accounts, own, max(0.0, others - simulated)),
    }
    _show(figures, bars)
    return figures


def _wait(storage: Storage, job_id: str) -> None:
    """Wait for the end of the job, and say from time to time how far it is."""
    said = time.monotonic()
    while (job := storage.jobs.get(job_id)).state not in FINAL_JOB_STATES:
        time.sleep(_LOOK_SECONDS)
        if time.monotonic() - said >= _SAY_SECONDS:
            said = time.monotonic()
            ended = sum(trial.finished_at is not None for trial in storage.trials.of_job(job_id))
            print(f"  {job.state}, {ended} trials have ended", file=sys.stderr, flush=True)
    if job.state != "completed":
        raise RuntimeError(f"the job is {job.state}: {job.error}")


def _cpu_seconds() -> tuple[float, float]:
    """Of this process, and of those that it started and that have ended."""
    return tuple(  # type: ignore[return-value]
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def _evaluations(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """What was simulated, the dearest first."""
    ran = [trial for trial in trials if trial.cpu_seconds and not trial.cached]
    return [
        {
            "trial": trial.number,
            "kind": trial.kind,
            "fidelity": trial.fidelity,
            "state": trial.state,
            "value": trial.value,
            "cpu_seconds": trial.cpu_seconds,
            "peak_bytes": trial.peak_rss_bytes,
            "configuration": trial.configuration,
            "reason": trial.reason,
        }
        for trial in sorted(ran, key=lambda trial: -(trial.cpu_seconds or 0.0))
    ]


def _parts(accounts: Accounts, own: float, others: float) -> dict[str, float]:
    """CPU seconds beside the simulations; what is left over is told as such."""
    named = dict(accounts.seconds)
    return {
        **named,
        "rest of this process": own - sum(named.values()),
        "tuner's process and simulators' start": others,
    }


def _show(figures: dict[str, Any], bars: Bars) -> None:
    ranks, evaluations = figures["ranks"], figures["evaluations"]
    simulated = sum(each["cpu_seconds"] for each in evaluations)
    print(f"job of {ranks} ranks, {figures['trials']} trials, {WORKERS} workers: CPU s")
    print(f"  {f'{len(evaluations)} evaluations':52} {simulated:10.4g}")
    for kind in dict.fromkeys(each["kind"] for each in evaluations):
        some = [each["cpu_seconds"] for each in evaluations if each["kind"] == kind]
        print(f"    {f'{len(some)} of kind {kind}':50} {sum(some):10.4g}")
    for each in evaluations[:_DEAREST]:
        algorithms = ", ".join(
            str(value)
            for name, value in Configuration.from_json(each["configuration"]).items()
            if name.startswith("collectives.")
        )
        what = f"trial {each['trial']}: {algorithms or 'defaults'}, {each['state']}"
        memory = f"{each['peak_bytes'] / _GIB:.2f} GiB"
        print(f"    {what[:50]:50} {each['cpu_seconds']:10.4g}  {memory}")
    for part, seconds in sorted(figures["parts"].items(), key=lambda item: -item[1]):
        print(f"  {part:52} {seconds:10.4g}")
    if ranks not in BARS:
        return
    seconds, gib = BARS[ranks]
    bars.at_most("CPU s, of those of all workers", figures["cpu_seconds"], seconds * WORKERS)
    bars.at_most("GiB in memory at once", figures["peak_bytes"] / _GIB, gib)
    print(f"  {'seconds of the clock, with whatever else ran':52} {figures['wall_seconds']:10.4g}")

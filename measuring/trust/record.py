"""Traces of programs, recorded under a real MPI library on the cluster that was calibrated."""

from __future__ import annotations

from pathlib import Path

from measuring.building import build_builtin, build_preload, compiler_of
from measuring.clusters import Cluster, Launch
from measuring.trust.cases import PROGRAMS
from searchspace.errors import HamtuneError
from workers.merge import merge
from workers.recorder_build import LIBRARY, build_recorder

__all__ = ["record"]

ATTEMPTS = 3


def record(name: str, cluster: Cluster, directory: Path, host_speed: float) -> Path:
    """Record a program under Open MPI, unless that was done before.

    An emulated cluster has fewer cores than hosts, and a rank that computes while others do takes
    longer, which is what counts for the time of the program. So the recorder is given the clock on
    the wall instead of that of the thread (`programs/elapsed.c`).

    Args:
        name: Of `PROGRAMS`.
        cluster: Where it runs.
        directory: Where traces are kept.
        host_speed: Flop/s that turn seconds between calls into flops.

    Returns:
        The trace.

    Raises:
        RunFailed: It does not run.
        HamtuneError: No run of several counts.
    """
    trace = directory / f"{name}.ht"
    if trace.exists():
        return trace
    recorder = directory / "recorder"
    if not (recorder / LIBRARY).exists():
        build_recorder(compiler_of("openmpi"), recorder)
    elapsed = build_preload("elapsed", "openmpi", directory / "elapsed.so")
    run = PROGRAMS[name]
    command = build_builtin(run, "openmpi", directory)
    doubts: list[str] = []
    for attempt in range(ATTEMPTS):
        recording = directory / f"{name}-{attempt}"
        recording.mkdir(parents=True, exist_ok=True)
        ran = cluster.run(
            Launch(
                command=command,
                ranks=run.ranks,
                preloaded=[elapsed, recorder / LIBRARY],
                environment={
                    "HAMTUNE_RECORD_DIRECTORY": str(recording),
                    "HAMTUNE_RECORD_HOST_SPEED": repr(host_speed),
                },
            )
        )
        if not ran.doubts:
            merge(recording, trace)
            return trace
        doubts += ran.doubts
    raise HamtuneError(f"no run of {name} counts: {'; '.join(doubts)}")

"""The simulated times of cases."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measuring.trust.cases import NETWORKS, PROGRAMS, Case
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.machine import Machine
from searchspace.platform import resolve
from workers.simulator_client import Simulator

__all__ = ["Simulated", "collective_trace", "simulate"]

Simulated = Mapping[Case, float]


def simulate(
    cases: Sequence[Case],
    machine_of: Callable[[Case], Machine],
    programs: Mapping[str, Path],
    directory: Path,
) -> dict[Case, float]:
    """Seconds of each case.

    Args:
        cases: What is simulated.
        machine_of: The machine of a case, with the case's network.
        programs: Traces of `PROGRAMS`.
        directory: Where traces of collectives are written.

    Raises:
        SimulationFailed: The simulator did not complete one.
    """

    def seconds(case: Case) -> float:
        ranks = ranks_of(case)
        trace = programs.get(case.choice) if case.is_program else None
        if trace is None:
            name = f"{case.operation}-{case.bytes}-{case.calls}-{ranks}.ht"
            trace = collective_trace(
                case.operation, case.bytes, ranks, directory / name, calls=case.calls
            )
        resolved = resolve(case.configuration, machine_of(case), ranks)
        with Simulator([trace]) as simulator:
            answer = simulator.evaluate(resolved.simulator_request())
        if answer["status"] != "completed":
            raise SimulationFailed(f"{case}: {answer['status']}: {answer['reason']}")
        return float(answer["simulated_time"])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(cases, pool.map(seconds, cases), strict=True))


class SimulationFailed(Exception):
    """A case that the simulator did not complete, and why."""


def ranks_of(case: Case) -> int:
    """How many ranks run a case: one on each host."""
    return PROGRAMS[case.choice].ranks if case.is_program else NETWORKS[case.network].hosts


def collective_trace(operation: str, size: int, ranks: int, path: Path, *, calls: int = 1) -> Path:
    """Write the trace of one collective, as `programs/collectives.c` calls it, unless it is there.

    Args:
        operation: The collective.
        size: Bytes, as of `Case.bytes`.
        ranks: How many call it.
        path: Where.
        calls: How often in a row.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        rank = _call(operation, size, ranks) * calls + encode("finalize")
        unfinished = path.with_suffix(f".{threading.get_ident()}")
        write_trace(unfinished, TraceHeader(ranks=ranks, program=operation), [rank] * ranks)
        unfinished.replace(path)
    return path


def _call(operation: str, size: int, ranks: int) -> bytes:
    match operation:
        case "alltoall" | "allgather" | "gather" | "scatter":
            block = {"send_count": size, "recv_count": size}
            return encode(operation, **block, send_size=1, recv_size=1)
        case "bcast":
            return encode("bcast", count=size, size=1)
        case "reduce_scatter":
            return encode("reduce_scatter", size=8, counts=[size // 8 // ranks] * ranks)
        case _:
            return encode(operation, count=size // 8, size=8)

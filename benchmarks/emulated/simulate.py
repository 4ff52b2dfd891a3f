"""The simulated times of what was measured, on the machine as it was measured."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.emulated.cases import HOSTS, PROGRAM_ALGORITHMS, PROGRAMS, Case
from searchspace.configuration import Configuration
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.kernels import trace_summary
from searchspace.machine import Machine, parse_machine
from searchspace.platform import resolve
from workers.capture import capture_builtin
from workers.simulator_client import Simulator

__all__ = ["COLLECTIVE_SPEED", "Emulated", "captured", "simulated_collective", "simulated_program"]

COLLECTIVE_SPEED = 2e9
"""flop/s of a host where nothing is computed."""


class Emulated:
    """The emulated cluster as a machine that the simulator knows.

    Args:
        measurements: A file of `measure`.
        network_model: `fluid` or `packets`.
        latency: Seconds of a cable; of what is measured alone, for nothing is fitted.
        protocol: Of `packets`; its `burst` is the cluster's token bucket, unless it says another.
    """

    def __init__(
        self,
        measurements: Mapping[str, Any],
        network_model: str,
        latency: float,
        protocol: str | Mapping[str, Any],
    ) -> None:
        self._networks = measurements["networks"]
        self._rate = measurements["link"]["rate"]
        self._latency = latency
        fields = {"name": protocol} if isinstance(protocol, str) else dict(protocol)
        bucket = {"burst": measurements["link"]["bucket_bytes"]}
        self._model: dict[str, Any] = (
            {"network": "packets", "protocol": bucket | fields}
            if network_model == "packets"
            else {"model": "plain"}
        )

    def machine(self, network: str, host_speed: float) -> Machine:
        """One of its networks, with hosts of that speed."""
        return parse_machine(
            {
                "nodes": HOSTS,
                "host_speed": host_speed,
                "link_bandwidth": f"{self._rate}bps",
                "link_latency": self._latency,
                "topology": {"edges": self._networks[network]["edges"]},
                **self._model,
            }
        )


def simulated_collective(emulated: Emulated, case: Case) -> float:
    """Seconds of one collective that all ranks begin at once."""
    machine = emulated.machine(case.network, COLLECTIVE_SPEED)
    with _trace_of(case) as trace:
        return _seconds(machine, trace, {case.collective: case.algorithm})


def simulated_program(
    emulated: Emulated, network: str, trace: Path, computing: float
) -> tuple[float, float]:
    """Seconds of a program whose ranks compute that long, all together; and a host's speed then."""
    speed = trace_summary(trace)["flops"] / computing
    return _seconds(emulated.machine(network, speed), trace, PROGRAM_ALGORITHMS), speed


@contextmanager
def captured(names: Sequence[str]) -> Iterator[dict[str, Path]]:
    """Traces of built-in programs, as a job captures them."""
    with tempfile.TemporaryDirectory(prefix="hamtune-emulated-") as directory:
        traces = {}
        for name in names:
            run = PROGRAMS[name]
            rest = dict(run.parameters)
            class_ = rest.pop("class", None)
            traces[name] = Path(directory) / f"{name}.ht"
            given = None if class_ is None else str(class_)
            capture_builtin(run.program, given, run.ranks, rest, traces[name])
        yield traces


@contextmanager
def _trace_of(case: Case) -> Iterator[Path]:
    """A trace of one collective."""
    with tempfile.TemporaryDirectory(prefix="hamtune-emulated-") as directory:
        trace = Path(directory) / "one.ht"
        rank = _operation(case) + encode("finalize")
        write_trace(trace, TraceHeader(ranks=HOSTS, program=case.collective), [rank] * HOSTS)
        yield trace


def _operation(case: Case) -> bytes:
    """The call of `collective.c`."""
    if case.collective in ("alltoall", "allgather"):
        block = {"send_count": case.bytes, "recv_count": case.bytes}
        return encode(case.collective, **block, send_size=1, recv_size=1)
    if case.collective == "bcast":
        return encode("bcast", count=case.bytes, size=1)
    return encode(case.collective, count=case.bytes // 8, size=8)


def _seconds(machine: Machine, trace: Path, algorithms: Mapping[str, str]) -> float:
    configuration = Configuration({f"collectives.{k}": v for k, v in algorithms.items()})
    request = resolve(configuration, machine, HOSTS).simulator_request()
    with Simulator([trace]) as simulator:
        answer = simulator.evaluate(request)
    if answer["status"] != "completed":
        raise SystemExit(f"{trace.name}: {answer['status']}: {answer['reason']}")
    return float(answer["simulated_time"])

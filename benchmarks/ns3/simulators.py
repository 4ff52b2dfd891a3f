"""The same case given to ns-3 and to our simulator."""

from __future__ import annotations

import itertools
import json
import resource
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.ns3.cases import Case
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.protocol import Protocol
from workers.simulator_client import BINARY

__all__ = ["MissingPackage", "Ns3", "Outcome", "our_endings"]

HOST_SPEED = 1e9  # flop/s
MODULES = ("ns3-point-to-point", "ns3-network", "ns3-core")
PROGRAMS = {"g++": "build-essential", "pkg-config": "pkg-config"}  # with their packages
LIBRARIES = {MODULES[0]: "libns3-dev", "nlohmann_json": "nlohmann-json3-dev"}


class MissingPackage(Exception):
    """Something to install first; the text names the Debian package."""


@dataclass(frozen=True)
class Outcome:
    """What ns-3 says of a case.

    Attributes:
        arrivals: When the last byte of each flow arrives, s.
        ties: How often two packets came to one queue in the same instant.
        cpu_seconds: It took.
    """

    arrivals: tuple[float, ...]
    ties: int
    cpu_seconds: float


class Ns3:
    """The program `cases.cc`, built against the installed ns-3."""

    def __init__(self, directory: Path) -> None:
        """Build it in a directory.

        Raises:
            MissingPackage: A Debian package is not installed.
        """
        _check_packages()
        self.version = _answer("pkg-config", "--modversion", MODULES[0])
        self._program = directory / "cases"
        # Not `pkg-config --libs`: it lists what ns-3 itself was linked with, which libns3-dev does
        # not depend on.
        command = ["g++", "-std=c++17", "-O2", "-Wall", "-Wextra"]
        command += [str(Path(__file__).with_name("cases.cc")), "-o", str(self._program)]
        subprocess.run([*command, *(f"-l{module}" for module in MODULES)], check=True)

    def run(self, case: Case) -> Outcome:
        """Simulate a case."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [str(self._program)], input=json.dumps(_document(case)), capture_output=True, text=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(f"ns-3 failed on {case.name}: {done.stderr}")
        answer = json.loads(done.stdout)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Outcome(tuple(answer["arrivals"]), answer["ties"], cpu)


def _check_packages() -> None:
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            raise MissingPackage(f"the Debian package {package} is missing ({program})")
    for library, package in LIBRARIES.items():
        if subprocess.run(["pkg-config", "--exists", library]).returncode:
            raise MissingPackage(f"the Debian package {package} is missing ({library})")


def _answer(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _document(case: Case) -> dict[str, Any]:
    """The case as `cases.cc` reads it."""
    graph, routes = case.machine.graph, case.machine.routes()
    ends = [(case.hosts[flow.sender], case.hosts[flow.receiver]) for flow in case.flows]
    channels: dict[tuple[int, int], int] = {}
    return {
        "payload": case.payload,
        "header": case.header,
        "nodes": graph.nodes,
        "cables": [
            {
                "u": edge[0],
                "v": edge[1],
                "bandwidth": case.machine.bandwidth_of(edge),
                "latency": case.machine.latency,
            }
            for edge in graph.edges
        ],
        "routes": [
            {
                "source": source,
                "target": target,
                "cables": [cable for cable, _ in routes.path(source, target)],
            }
            for source, target in sorted(set(ends))
        ],
        "flows": [
            {
                "start": flow.start,
                "source": source,
                "target": target,
                "channel": channels.setdefault((flow.sender, flow.receiver), len(channels)),
                "after": flow.after,
                "bytes": flow.bytes,
            }
            for flow, (source, target) in zip(case.flows, ends, strict=True)
        ],
    }


def our_endings(case: Case, trains: Sequence[int], directory: Path) -> list[dict[int, float]]:
    """When each rank that only receives has everything, s, for each number of trains."""
    trace = directory / "case.ht"
    ranks = range(len(case.hosts))
    write_trace(
        trace,
        TraceHeader(ranks=len(ranks), program="case"),
        [_operations(case, rank) for rank in ranks],
    )
    senders = {flow.sender for flow in case.flows}
    endings = []
    for most in trains:
        times = _finish_times(trace, _request(case, most))
        endings.append({rank: times[rank] for rank in ranks if rank not in senders})
    return endings


def _operations(case: Case, rank: int) -> bytes:
    """What a rank does: all receives at once, then its sends, each at its time."""
    out = b""
    slots: dict[int, int] = {}  # of flows that are not waited for yet

    def begin(operation: str, number: int, peer: int) -> bytes:
        slots[number] = next(slot for slot in itertools.count() if slot not in slots.values())
        size = case.flows[number].bytes
        return encode(operation, slot=slots[number], peer=peer, tag=number, count=size, size=1)

    for number, flow in enumerate(case.flows):
        if flow.receiver == rank:
            out += begin("irecv", number, flow.sender)
    for number, flow in enumerate(case.flows):
        if flow.sender != rank:
            continue
        if flow.after is not None:
            out += encode("wait", slot=slots.pop(flow.after))
        if flow.start > 0:
            out += encode("compute", flops=flow.start * HOST_SPEED)
        out += begin("isend", number, flow.receiver)
    return out + encode("waitall", slots=list(slots.values())) + encode("finalize")


def _request(case: Case, trains: int) -> dict[str, Any]:
    machine = case.machine
    protocol = Protocol.model_validate(
        {
            "name": "ideal",
            "switching": "store-and-forward",
            "mtu": case.payload,
            "framing": case.header,
            "trains": trains,
        }
    )
    platform = {
        "hosts": machine.hosts,
        "switches": machine.graph.switches,
        "cores": max(Counter(case.hosts).values()),
        "host_speed": HOST_SPEED,
        "edges": [list(edge) for edge in machine.graph.edges],
        "link_bandwidth": machine.bandwidth,
        "host_link_bandwidth": machine.host_bandwidth,
        "link_latency": machine.latency,
        "switch_latency": 0.0,
        "switch_bandwidth": None,
        "loopback_bandwidth": 1e10,
        "loopback_latency": 1e-7,
        "tie_rule": "lowest-id",
        "packets": protocol.numbers(),
    }
    applications = [{"trace": 0, "hosts": list(case.hosts), "start": 0.0}]
    return {"id": case.name, "platform": platform, "applications": applications, "options": {}}


def _finish_times(trace: Path, request: dict[str, Any]) -> list[float]:
    """When each rank is through, s."""
    done = subprocess.run(
        [str(BINARY), "--trace", str(trace), "--request", "-"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"the simulator failed on {request['id']}: {done.stderr or done.stdout}")
    answer = json.loads(done.stdout)
    times: list[float] = answer["rank_finish_times"][0]
    return times

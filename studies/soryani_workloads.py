"""The workloads of Soryani et al. (2013), tables 3 to 6, and the cluster that runs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from searchspace.formats.patterns import Pattern
from searchspace.graph import Graph
from searchspace.hop_machine import HopMachine, Network, Tree
from searchspace.mapping import Places
from searchspace.mapping.contention_free import Job, map_jobs
from searchspace.mapping.time_model import HostLimits
from searchspace.rounds import Rounds
from searchspace.traffic import Traffic
from searchspace.validation import check
from studies.laboratory import Laboratory
from studies.mapping_cases import Case
from studies.queues import Cluster, Messages, Waiting, of_pattern, of_trace, serve
from studies.recordings import Recording, Workload

__all__ = ["MACHINE", "MIXED", "UNIFORM", "Workflow", "real_workloads", "synthetic_workloads"]

_HOSTS, _SOCKETS, _CORES = 16, 4, 4

MACHINE = HopMachine.uniform(Tree((_HOSTS,)), _SOCKETS * _CORES, (_SOCKETS, _CORES))
"""Sixteen hosts of four sockets of four cores around a switch (section 2)."""

_QUANTITIES = {
    "host_speed": "1Gf",
    "cores_per_host": _CORES,
    "link_bandwidth": "1GBps",
    "link_latency": "25ns",
    "memory_bandwidth": "2GBps",
    "loopback_bandwidth": "2GBps",
    "model": "plain",
}
"""Hosts of the simulation are sockets: a memory of 4 GB/s serves a message within it twice."""

_HOST_SPEED = 1e9

UNIFORM = ("All-to-All", "Bcast/Scatter", "Gather/Reduce", "Linear")
MIXED = tuple(f"Mixed_{number}" for number in range(1, 7))

_TABLE_3 = (
    (500, "2MB"), (500, "2MB"), (100, "2MB"), (10, "2MB"),
    (1000, "64kB"), (100, "64kB"), (10, "64kB"), (1000, "1kB"),
)  # fmt: skip
_TABLE_4 = {
    "Mixed_1": (100, "64kB"),
    "Mixed_2": (1000, "64kB"),
    "Mixed_3": (10, "2MB"),
    "Mixed_4": (100, "2MB"),
}
_TABLE_5 = {"Mixed_5": 32, "Mixed_6": 24}
_COUNT, _COUNT_ALL_TO_ALL = 2000, 1500

_TABLE_6 = {
    "HW_1": "SP-25-C IS-32-C FT-32-B FT-16-B IS-16-C CG-32-C IS-8-B BT-25-C CG-16-B",
    "HW_2": "IS-8-B FT-32-B IS-32-C MG-32-C CG-32-C IS-32-B MG-32-B CG-32-B BT-16-C",
    "MW": "BT-25-B CG-32-B EP-32-B FT-32-B IS-32-B LU-32-B MG-32-B SP-25-B",
    "LW_1": "SP-25-B CG-32-B EP-32-B MG-32-B",
    "LW_2": "SP-25-C CG-32-C EP-32-C MG-32-C",
}
"""LU needs a power of two here: 32 instead of the paper's 25 processes."""

_ITERATED = ("bt", "lu", "sp")
_SQUARE = ("bt", "sp")


@dataclass(frozen=True)
class _Application:
    """One job: what it sends in the model of queues, and what the simulator plays of it."""

    messages: Messages
    recording: Recording

    @property
    def ranks(self) -> int:
        return self.recording.ranks

    @property
    def duration(self) -> float:
        return max(1e-6, float(self.messages.sent.max(initial=0.0)))


class Workflow:
    """A workload: jobs that run at once on the cluster.

    Args:
        name: As the paper calls it.
        applications: Its jobs.
        played: All of them for the simulator.
    """

    def __init__(self, name: str, applications: Sequence[_Application], played: Workload) -> None:
        self.name = name
        self._applications = applications
        self._played = played

    @cached_property
    def messages(self) -> Messages:
        """What all jobs send in the model of queues."""
        jobs = self._applications
        return Messages.together([job.messages for job in jobs], [job.ranks for job in jobs])

    @cached_property
    def traffic(self) -> Traffic:
        """Bytes that ranks exchange."""
        return self._traffic(self.messages.length)

    def _traffic(self, sizes: object) -> Traffic:
        ranks = sum(job.ranks for job in self._applications)
        sent = self.messages
        return Traffic.from_pairs(ranks, sent.sender, sent.receiver, np.asarray(sizes))

    def contention_free(self, version: str) -> Places:
        """Places the ranks job by job, with the rates and lengths of the jobs' messages.

        Args:
            version: `new`, or `old` for the strategy of 2012.
        """
        seconds = np.concatenate(
            [np.full(len(job.messages.sent), job.duration) for job in self._applications]
        )
        a_second = np.ceil(self.messages.length / seconds).astype(np.int64)
        jobs, first = [], 0
        for job in self._applications:
            sent = job.messages
            pairs = len(np.unique(sent.sender * job.ranks + sent.receiver))
            ranks = tuple(range(first, first + job.ranks))
            length = float(sent.length.max(initial=0))
            jobs.append(Job(ranks, length, adjacency=pairs / job.ranks))
            first += job.ranks
        return map_jobs(self._traffic(a_second), MACHINE, jobs, version=version)

    def waiting(self, places: Places) -> Waiting:
        """How long messages wait."""
        return serve(self.messages, np.asarray(places, dtype=np.int64), Cluster())

    def finish_times(self, places: Places) -> tuple[float, ...]:
        """When each job ends, in simulated seconds."""
        sockets = (np.asarray(places) // _CORES).tolist()
        return self._played.finish_times(_network(), _QUANTITIES, sockets)

    @property
    def case(self) -> Case:
        """The workload as a case of mapping, judged by the end of its last job."""

        def measure(places: Places, cutoff: float | None) -> float | None:
            sockets = (np.asarray(places) // _CORES).tolist()
            ends = self._played.finish_times_within(_network(), _QUANTITIES, sockets, cutoff)
            return None if ends is None else max(ends)

        simulated = HopMachine.uniform(Network(_network()), _CORES)
        rounds = Rounds.together([job.recording.rounds() for job in self._applications])
        limits = HostLimits(memory=2.0)
        name = f"workload {self.name}"
        return Case(name, self.traffic, MACHINE, measure, simulated, rounds, limits)


def _network() -> Graph:
    """Sockets as hosts, a switch in each host, and the one between them."""
    sockets = _HOSTS * _SOCKETS
    edges = {(socket, sockets + socket // _SOCKETS): 4 for socket in range(sockets)}
    edges |= {(sockets + host, sockets + _HOSTS): 1 for host in range(_HOSTS)}
    ordered = sorted(edges)
    widths = tuple(edges[edge] for edge in ordered)
    return Graph(sockets + _HOSTS + 1, tuple(ordered), _HOSTS + 1, widths)


def synthetic_workloads(
    laboratory: Laboratory, names: Sequence[str], *, queued: int, played: int
) -> Iterator[Workflow]:
    """The synthetic workloads of tables 3 to 5.

    Args:
        laboratory: Where their traces are kept.
        names: Of `UNIFORM` and `MIXED`.
        queued: The part of the paper's messages that wait in queues is one in so many.
        played: The same for the simulator; at least two messages of every sender are played.
    """
    for name in names:
        jobs = []
        for number, (pattern, ranks, rate, size, count) in enumerate(_definition(name)):

            def part(divisor: int, pattern: str = pattern, ranks: int = ranks, rate: int = rate,
                     size: str = size, count: int = count) -> Pattern:  # fmt: skip
                return _pattern(pattern, ranks, rate, size, max(2, count // divisor))

            messages = of_pattern(part(queued), seed=laboratory.seed * 100 + number)
            jobs.append(_Application(messages, laboratory.pattern(part(played))))
        yield Workflow(name, jobs, laboratory.workload([job.recording for job in jobs]))


def _definition(name: str) -> list[tuple[str, int, int, str, int]]:
    """Pattern, processes, rate, size and count of each job."""
    if name in UNIFORM:
        count = _COUNT_ALL_TO_ALL if name == "All-to-All" else _COUNT
        return [(name, 32, rate, size, count) for rate, size in _TABLE_3]
    if name in _TABLE_4:
        rate, size = _TABLE_4[name]
        return [(pattern, 64, rate, size, _COUNT) for pattern in UNIFORM]
    ranks = _TABLE_5[name]
    return [(p, ranks, 10, size, _COUNT) for size in ("2MB", "64kB") for p in UNIFORM]


def _pattern(pattern: str, ranks: int, rate: int, size: str, count: int) -> Pattern:
    described = {"pattern": pattern.lower(), "ranks": ranks, "size": size, "count": count}
    return check(Pattern, {**described, "rate": float(rate), "host_speed": _HOST_SPEED})


def real_workloads(
    laboratory: Laboratory, names: Sequence[str], classes: Mapping[str, str]
) -> Iterator[Workflow]:
    """The workloads of NAS programs of table 6.

    Args:
        laboratory: Where their traces are kept.
        names: Of the paper's workloads.
        classes: What stands for the paper's classes.
    """
    for name in names:
        jobs = []
        for job in _TABLE_6[name].split():
            program, ranks, class_ = job.lower().split("-")
            chosen = classes[class_.upper()]
            if chosen == "S" and program in _SQUARE:
                chosen = "W"  # the least that 25 processes can share
            parameters: dict[str, str | int] = {"class": chosen}
            if program in _ITERATED:
                parameters["iterations"] = 3
            short = program == "cg"  # its messages would outnumber all others
            recording = laboratory.program(program, int(ranks), short=short, **parameters)
            jobs.append(_Application(of_trace(recording.trace, _HOST_SPEED), recording))
        yield Workflow(name, jobs, laboratory.workload([job.recording for job in jobs]))

"""Contention-free mapping: jobs that send much are spread, so that network interfaces keep up.

Soryani, Analoui and Zarrinchian, "Improving inter-node communications in multi-core clusters using
a contention-free process mapping algorithm", 2013, section 4, figure 8. `old` is their earlier
strategy as that paper tells of it: as many processes of a job on every host, whatever it sends.

A traffic matrix does not tell jobs, messages and rates: ranks that are joined by traffic are a job,
and length, duration and variation are options. `map_jobs` takes them job by job.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from searchspace.hop_machine import HopMachine
from searchspace.mapping.contention_model import (
    LARGE,
    MEDIUM,
    Hardware,
    Load,
    best_hosts,
    slowdown,
)
from searchspace.mapping.mapper import Mapper, Places
from searchspace.options import Amount, Choice
from searchspace.traffic import Traffic

__all__ = ["CONTENTION_FREE", "Job", "map_jobs"]


@dataclass(frozen=True)
class Job:
    """A parallel job of a workload.

    Attributes:
        ranks: Its ranks, as numbers of the workload's traffic.
        length: Bytes of its largest messages.
        variation: Coefficient of variation of the time between messages.
        adjacency: Mean number of ranks that one sends to; None to count all partners in the
            traffic, which does not tell who sends.
    """

    ranks: tuple[int, ...]
    length: float
    variation: float = 1.0
    adjacency: float | None = None


class _Hosts:
    """Which places are still free."""

    def __init__(self, machine: HopMachine) -> None:
        socket = math.prod(machine.inside[1:]) if len(machine.inside) > 1 else 1
        self._free: list[list[int]] = [[] for _ in range(machine.hosts)]
        for place, host in enumerate(machine.place_hosts.tolist()):
            self._free[host].append(place)
        self._socket = (machine.place_cores // socket).tolist()
        self._large = [[0] * (max(self._socket) + 1) for _ in range(machine.hosts)]
        self.idle = np.asarray([len(free) for free in self._free])
        self.usable = int(np.count_nonzero(self.idle))

    @property
    def mean_idle(self) -> float:
        return float(self.idle.sum()) / self.usable

    def take(self, host: int, *, large: bool) -> int:
        """A free place of a host: for senders of large messages, where the fewest of them are."""
        free = self._free[host]
        at = 0
        if large:  # rule 4: sockets of their own
            crowd = self._large[host]
            at = min(range(len(free)), key=lambda i: (crowd[self._socket[free[i]]], free[i]))
            crowd[self._socket[free[at]]] += 1
        self.idle[host] -= 1
        return free.pop(at)


def map_jobs(
    traffic: Traffic,
    machine: HopMachine,
    jobs: Sequence[Job],
    *,
    duration: float = 1.0,
    hardware: Hardware | None = None,
    version: str = "new",
) -> Places:
    """Places the ranks of a workload of several jobs.

    Args:
        traffic: What the ranks of all jobs exchange, both ways, over `duration`.
        machine: Where; each job's ranks share hosts with others'.
        jobs: Each rank belongs to one.
        duration: Seconds.
        hardware: What serves messages; that of the paper if left out.
        version: `new`, or `old` for the strategy of 2012.
    """
    new = version == "new"
    hardware = hardware or Hardware()
    hosts = _Hosts(machine)
    places = np.zeros(traffic.ranks, dtype=np.uint32)
    adjacency = {id(job): _adjacency(traffic, job) for job in jobs}
    weighty = [adjacency[id(job)] for job in jobs if job.length >= MEDIUM]
    cores = max(machine.cores_per_host)
    severe = new and bool(weighty) and sum(weighty) // len(weighty) > cores  # rule 6
    order = sorted(jobs, key=lambda job: (_category(job), -adjacency[id(job)]))
    for job in order:
        spread = not severe and (not new or job.length >= MEDIUM)
        threshold = cores
        if spread and adjacency[id(job)] > max(0.0, hosts.mean_idle - 1):
            threshold = _threshold(traffic, job, hosts, adjacency[id(job)], duration, hardware, new)
        _place_job(traffic, job, hosts, places, threshold, new=new)
    return places


def _category(job: Job) -> int:
    return 0 if job.length >= LARGE else 1 if job.length >= MEDIUM else 2


def _adjacency(traffic: Traffic, job: Job) -> float:
    if job.adjacency is not None:
        return job.adjacency
    ranks = np.asarray(job.ranks)
    return float((traffic.first[ranks + 1] - traffic.first[ranks]).mean())


def _threshold(
    traffic: Traffic,
    job: Job,
    hosts: _Hosts,
    adjacency: float,
    duration: float,
    hardware: Hardware,
    new: bool,
) -> int:
    """The most ranks of a job that a host should run (equation 22)."""
    count = len(job.ranks)
    if not new:
        return -(-count // hosts.usable)
    sent = sum(int(traffic.size[traffic.first[r] : traffic.first[r + 1]].sum()) for r in job.ranks)
    # Each pair stands in two rows with the bytes of both ways; half of them go each way.
    per_partner = sent / 2 / count / adjacency
    load = Load(count, adjacency, per_partner / job.length / duration, job.length, job.variation)
    least = max(1, -(-count // int(hosts.idle.max())))
    chosen = best_hosts(load, hardware, least, hosts.usable)
    return -(-count // chosen)


def _place_job(
    traffic: Traffic,
    job: Job,
    hosts: _Hosts,
    places: Places,
    threshold: int,
    *,
    new: bool,
) -> None:
    """Places the rank with the highest demand, its partners beside it, and so on."""
    large = new and job.length >= LARGE
    weight = slowdown(job.length, job.variation) if new else 1.0

    def demand(rank: int) -> float:
        begin, end = traffic.first[rank], traffic.first[rank + 1]
        return float(traffic.size[begin:end].sum()) * weight

    own = np.zeros(len(hosts.idle), dtype=np.int64)
    waiting = sorted(job.ranks, key=lambda rank: (-demand(rank), rank))
    left = set(waiting)
    host = -1
    for first in waiting:
        if first not in left:
            continue
        begin, end = traffic.first[first], traffic.first[first + 1]
        heaviest_first = np.argsort(-traffic.size[begin:end], kind="stable")
        for rank in (first, *traffic.partner[begin:end][heaviest_first].tolist()):
            if rank not in left:
                continue
            if host < 0 or not hosts.idle[host] or own[host] >= threshold:
                host, threshold = _next_host(hosts, own, threshold)
            places[rank] = hosts.take(host, large=large)
            own[host] += 1
            left.remove(rank)


def _next_host(hosts: _Hosts, own: NDArray[np.int64], threshold: int) -> tuple[int, int]:
    """The host with the most free places that has not reached the threshold, which rises if none
    is left.
    """  # noqa: D205
    while True:
        room = np.where(own < threshold, hosts.idle, 0)
        if room.any():
            return int(room.argmax()), threshold
        threshold += 1


def _place(
    traffic: Traffic,
    machine: HopMachine,
    *,
    seed: int,
    version: str,
    message: float,
    duration: float,
    variation: float,
    memory: float,
    interface: float,
) -> Places:
    from scipy.sparse import csr_array  # here, since most commands do without
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(traffic.partner), dtype=np.int8)
    joined = csr_array(
        (ones, traffic.partner.astype(np.int32), traffic.first),
        shape=(traffic.ranks, traffic.ranks),
    )
    _, job_of = connected_components(joined, directed=False)
    members: dict[int, list[int]] = {}
    for rank, number in enumerate(job_of.tolist()):
        members.setdefault(number, []).append(rank)
    jobs = [Job(tuple(ranks), message, variation) for ranks in members.values()]
    hardware = Hardware(memory, interface)
    return map_jobs(traffic, machine, jobs, duration=duration, hardware=hardware, version=version)


CONTENTION_FREE = Mapper(
    "contention-free",
    "spreads what would crowd a network interface, packs the rest (Soryani 2013)",
    _place,
    options=(
        Choice("version", "the algorithm of 2013, or the one before it", ("new", "old")),
        Amount("message", "bytes of a message", 1, 2**31, 65_536),
        Amount("duration", "seconds in which the traffic flows", 1e-9, 1e9, 1.0),
        Amount("variation", "coefficient of variation of the time between messages", 0, 100, 1.0),
        Amount("memory", "bandwidth of the memory of a host, bytes/s", 1, 1e15, 4e9),
        Amount("interface", "bandwidth of a network interface, bytes/s", 1, 1e15, 1e9),
    ),
)

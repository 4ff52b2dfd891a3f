"""Families, orderings and mappers on networks of as many hosts as are asked for."""

from __future__ import annotations

import ctypes
import itertools
import os
import pickle
import resource
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.packets.bars import Bars
from benchmarks.packets.traces import cube
from searchspace.errors import HamtuneError
from searchspace.graph import Graph
from searchspace.hop_machine import Grid, HopMachine, Network
from searchspace.mapping import MAPPERS, map_ranks
from searchspace.ordering import ORDERINGS, order
from searchspace.topology import FAMILIES, generate, obstacle
from searchspace.traffic import Traffic

__all__ = ["show_networks"]

DEGREE = 8
_HALO_BYTES = 4096
_MEGABYTE = 1e6


def show_networks(hosts: int, seconds: int, bars: Bars) -> Iterator[dict[str, Any]]:
    """Print a line a case: CPU seconds, and memory beside a byte for each pair of hosts.

    Each runs in a process of its own, and is ended after so many CPU seconds. Gives the figures.
    """
    table = hosts * hosts / _MEGABYTE
    print(f"{hosts} hosts, degree {DEGREE}; a byte for each pair would be {table:.0f} MB")
    for name, work in _cases(hosts):
        figures = _measured(work, seconds)
        yield {"case": name, **figures}
        if figures["outcome"] != "done":
            bars.missed += figures["outcome"].startswith("ended")
            print(f"  {name:40} {figures['cpu_seconds']:8.2f} CPU s  {figures['outcome'][:90]}")
            continue
        print(f"  {name:40} {figures['cpu_seconds']:8.2f} CPU s", flush=True)
        bars.at_most(f"{name}: MB", figures["bytes"] / _MEGABYTE, table)


def _cases(hosts: int) -> Iterator[tuple[str, Callable[[], object]]]:
    for family in FAMILIES:
        if obstacle(family, hosts, degree=DEGREE) is None:
            yield f"family {family}", partial(_network, family, hosts)
    random = _network("random", hosts)
    for method in ORDERINGS:
        yield f"ordering {method}, random", partial(order, method, random)
    traffic = stencil_traffic(hosts)
    machines = {
        "random": HopMachine.uniform(Network(random), 1),
        "torus-3d": HopMachine.uniform(Grid(cube(hosts), wrapped=True), 1),
    }
    for mapper, (network, machine) in itertools.product(MAPPERS, machines.items()):
        yield (
            f"mapper {mapper}, {network}",
            partial(map_ranks, mapper, traffic, machine, seed=1),
        )


def _network(family: str, hosts: int) -> Graph:
    traffic = stencil_traffic(hosts) if FAMILIES[family].uses_traffic else None
    return generate(family, hosts, degree=DEGREE, seed=1, traffic=traffic)


def stencil_traffic(ranks: int) -> Traffic:
    """What the ranks of a seven-point stencil on the most cubic grid exchange."""
    numbers = np.arange(ranks).reshape(cube(ranks))
    pairs = [
        (np.delete(numbers, -1, axis).ravel(), np.delete(numbers, 0, axis).ravel())
        for axis in range(numbers.ndim)
    ]
    one, other = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return Traffic.from_pairs(ranks, one, other, np.full(len(one), _HALO_BYTES))


def _measured(work: Callable[[], object], seconds: int) -> dict[str, Any]:
    """CPU seconds and memory that a piece of work adds, in a process of its own."""
    reader, writer = os.pipe()
    ctypes.CDLL(None).malloc_trim(0)  # what is free here the child would use first
    before = _resident()
    process = os.fork()
    if process == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        outcome = "done"
        try:
            work()
        except (HamtuneError, MemoryError) as error:
            outcome = f"refused: {error}"
        os.write(writer, pickle.dumps(outcome))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answers:
        said = answers.read()
    _, status, usage = os.wait4(process, 0)
    if said:
        outcome = pickle.loads(said)
    else:
        ended = os.waitstatus_to_exitcode(status)
        over = ended in (-signal.SIGXCPU, -signal.SIGKILL)
        outcome = f"ended after {seconds} CPU s" if over else f"ended with {ended}"
    return {
        "outcome": outcome,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "bytes": max(0, usage.ru_maxrss * 1024 - before),
    }


def _resident() -> int:
    """Bytes of this process in memory, which a child begins with."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

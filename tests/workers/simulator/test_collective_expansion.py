"""Collectives that are written down once and then played: the same times as on stacks."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchspace.collectives import COLLECTIVES, SELECTORS
from searchspace.collectives.equivalents.decisions import option, selected
from searchspace.formats.operations import encode
from searchspace.protocol import PROTOCOLS
from tests.workers.simulator.runs import Server, packets_on, write_program
from tests.workers.simulator.test_selectors import RANKS, call, grid

TCP = PROTOCOLS["tcp-openmpi"].numbers()
OVERHEADS = {
    "send_overhead": [[0, 1e-6, 1e-10]],
    "isend_overhead": [[0, 3e-7, 0]],
    "receive_overhead": [[0, 5e-7, 1e-9]],
    "peer_overhead": 1e-6,
}
SAME = ("status", "simulated_time", "rank_finish_times", "link_loads")
COUNTS = (1, 2000, 20_000)
CALLS = 2  # of each count, of which the first is written down
LATENESS = 1e4  # flops, at most
ONE_SIDED = ("alltoall", "pair_rma")  # no packets

ON_STACKS = ("mvapich2", "impi", "arrival")
"""In names of algorithms that choose another one for the next call, or by which rank is late."""
ON_STACKS_WHERE_HOSTS_ARE_SHARED = ("smp", "SMP", "mpich", "loosely_lr")
GIVEN_UP = {
    ("allreduce", "mpich"),
    ("reduce", "mpich"),
    ("bcast", "SMP_linear"),
    ("bcast", "ompi_split_bintree"),
    ("barrier", "mpich_smp"),
    ("barrier", "ompi_two_procs"),
}
"""Not played as often as called: these do other things in the same call, or fail on eight ranks."""


def program(name: str, seed: int = 0) -> list[list[bytes]]:
    """The collective with all counts, to which ranks come in different orders."""
    late = random.Random(seed)
    return [
        [
            encoded
            for count in COUNTS
            for _ in range(CALLS)
            for encoded in (
                encode("compute", flops=late.random() * LATENESS),
                call(name, count, rank),
            )
        ]
        for rank in range(RANKS)
    ]


def is_played(name: str, algorithm: str, ranks_per_host: int) -> bool:
    """Whether all calls of an algorithm are played once it is written down."""
    marks = ON_STACKS + (ON_STACKS_WHERE_HOSTS_ARE_SHARED if ranks_per_host > 1 else ())
    value = option(name, algorithm)
    return (name, algorithm) not in GIVEN_UP and not any(mark in value for mark in marks)


@pytest.mark.parametrize(("ranks_per_host", "protocol"), [(1, TCP), (2, TCP | OVERHEADS)])
def test_every_algorithm(
    ranks_per_host: int, protocol: dict[str, Any], tmp_path: Path, serve: Callable[..., Server]
) -> None:
    rank_hosts = [rank // ranks_per_host for rank in range(RANKS)]
    for name, collective in COLLECTIVES.items():
        server = serve(write_program(tmp_path / f"{name}.ht", program(name)))
        algorithms = [each for each in collective.algorithms if (name, each) != ONE_SIDED]
        chosen = [{f"smpi/{name}": option(name, each)} for each in algorithms]
        expected = [is_played(name, each, ranks_per_host) for each in algorithms]
        for place, options in enumerate([*chosen, {}, *map(selected, SELECTORS)]):
            request = packets_on(grid(rank_hosts), *rank_hosts, **protocol) | {"options": options}
            stacks = server.ask({**request, "expand_collectives": False})
            written_down, played = server.ask(request), server.ask(request)
            for key in SAME:
                assert stacks[key] == written_down[key] == played[key], (name, options, key)
            if place < len(expected) and expected[place]:
                assert stacks["expanded_collectives"] == 0
                assert played["expanded_collectives"] == RANKS * len(COUNTS) * CALLS, options

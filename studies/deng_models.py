"""Deng et al. (2019), figures 4 to 8, table 3: measured ratios, and what models make of them.

The paper's cluster of gigabit cables was measured. Its figures are ratios of one network's
performance to another's, which is what a model of networks has to get right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from measuring.agreement import quantile
from studies.deng_benchmarks import (
    Benchmark,
    benchmark_time,
    collective_benchmark,
    npb_benchmark,
)
from studies.deng_networks import TABLES, Row
from studies.laboratory import DENG, Laboratory, as_packets
from studies.study import Cell, Findings, Study, Table

__all__ = ["DENG_MODELS"]

_ROUND_TRIP = (107.17e-6, 121.15e-6)
"""Seconds of the paper's ping-pong of 1,024 bytes: at no hop, and for each hop (figure 2)."""
_BYTES = 1024

_MPICH = {
    # MPICH 3.2 over TCP (ch3:nemesis): messages above 128 KiB wait for their receiver, and both
    # directions are at work at once.
    "name": "tcp-openmpi",
    "eager_limit": 131_072,
    "exchange": "full",
    "switching": "store-and-forward",
}
"""Nodes forward what is not theirs in software, packet by packet."""


def _models() -> dict[str, Mapping[str, Any]]:
    packets = {**as_packets(DENG), "protocol": _MPICH}
    start, slope = (seconds / 2 for seconds in _ROUND_TRIP)
    frame = _BYTES + 22 + 52 + 14  # headers of MPI, of TCP/IP, of Ethernet
    per_hop = slope - frame / 125e6
    ends = start / 2
    calibrated = {
        **packets,
        "link_latency": per_hop,
        "protocol": {
            **_MPICH,
            "send_overhead": [[0, ends, 0.0]],
            "isend_overhead": [[0, ends, 0.0]],
            "receive_overhead": [[0, ends, 0.0]],
        },
    }
    limit = {"switch_bandwidth": _FORWARDED}
    return {
        "fluid": DENG,
        "packets": packets,
        "packets, calibrated": calibrated,
        "fluid, slow hosts": {**DENG, **limit},
        "packets, slow hosts": {**calibrated, **limit},
    }


_FORWARDED = "350MBps"
"""What a host passes on in all, where hosts are slow: fitted to these ratios (of 250, 350, 500 and
700 MB/s the one of least error under packets), for the paper has no figure of it."""


@dataclass(frozen=True)
class _Ratio:
    """What the paper measured: how much faster a benchmark runs on one network than on another."""

    benchmark: Benchmark
    nodes: int
    faster: str
    slower: str
    paper: float


_BEFF = Benchmark("b_eff", "beff")
_ONE, _MANY = (
    collective_benchmark("alltoall", 1_000_000, "1 MB"),
    collective_benchmark("alltoall", 32_000_000, "32 MB"),
)
_IS, _FT = npb_benchmark("is", "A"), npb_benchmark("ft", "A")
_OPTIMAL, _RING, _WAGNER = "4 Optimal", "2 Ring", "3 Wagner"
_RATIOS = (
    _Ratio(_ONE, 16, _OPTIMAL, _RING, 2.16),
    _Ratio(_MANY, 16, _OPTIMAL, _RING, 1.87),
    _Ratio(_ONE, 32, _OPTIMAL, _RING, 2.79),
    _Ratio(_MANY, 32, _OPTIMAL, _RING, 2.64),
    _Ratio(_BEFF, 16, _OPTIMAL, _WAGNER, 1.38),
    _Ratio(_BEFF, 32, _OPTIMAL, _WAGNER, 1.68),
    _Ratio(_IS, 16, _OPTIMAL, _RING, 2.70),
    _Ratio(_IS, 16, _OPTIMAL, _WAGNER, 1.79),
    _Ratio(_IS, 32, _OPTIMAL, _RING, 3.89),
    _Ratio(_IS, 32, _OPTIMAL, _WAGNER, 2.53),
    _Ratio(_FT, 16, _OPTIMAL, _RING, 1.72),
    _Ratio(_FT, 16, _OPTIMAL, _WAGNER, 1.26),
    _Ratio(_FT, 32, _OPTIMAL, _RING, 2.31),
    _Ratio(_FT, 32, _OPTIMAL, _WAGNER, 1.56),
    _Ratio(_BEFF, 20, "4 Optimal", "4 Dragonfly", 1.09),
    _Ratio(_ONE, 20, "4 Optimal", "4 Dragonfly", 1.22),
    _Ratio(_MANY, 20, "4 Optimal", "4 Dragonfly", 1.46),
    _Ratio(_BEFF, 30, "5 Optimal", "5 Dragonfly", 1.14),
    _Ratio(_ONE, 30, "5 Optimal", "5 Dragonfly", 1.67),
    _Ratio(_MANY, 30, "5 Optimal", "5 Dragonfly", 1.80),
    _Ratio(_BEFF, 36, "5 Optimal", "5 Dragonfly", 1.02),
    _Ratio(_ONE, 36, "5 Optimal", "5 Dragonfly", 1.15),
    _Ratio(_MANY, 36, "5 Optimal", "5 Dragonfly", 1.32),
)
_QUICK = tuple(each for each in _RATIOS if each.benchmark is _ONE and each.nodes <= 20)


def _row(nodes: int, name: str) -> Row:
    degree, kind = name.split()
    rows = (*TABLES[1], *TABLES[2])
    return next(
        row for row in rows if (row.nodes, row.degree, row.kind) == (nodes, int(degree), kind)
    )


def _run(laboratory: Laboratory) -> Findings:
    models = _models()
    rows: list[tuple[Cell, ...]] = []
    errors: dict[str, list[float]] = {name: [] for name in models}
    for ratio in _QUICK if laboratory.quick else _RATIOS:
        networks = [_row(ratio.nodes, name) for name in (ratio.slower, ratio.faster)]
        found: list[Cell] = []
        for name, machine in models.items():
            slower, faster = (
                benchmark_time(laboratory, row, ratio.benchmark, machine, {"mpi": "mpich"})
                for row in networks
            )
            error = slower / faster / ratio.paper - 1.0
            errors[name].append(abs(error))
            found += [round(slower / faster, 2), f"{error:+.0%}"]
        names = (networks[1].name, networks[0].name)
        rows.append((ratio.benchmark.label, *names, ratio.paper, *found))
    columns = ["benchmark", "network", "over", "paper"]
    for name in models:
        columns += [name, "error"]
    ratios = Table(
        "Performance on one network over that on another, as measured by the paper",
        tuple(columns),
        tuple(rows),
    )
    summary = Table(
        "Errors of the ratios",
        ("model", "median", "mean", "worst"),
        tuple(
            (name, *(f"{each:.0%}" for each in (quantile(off, 0.5), fmean(off), max(off))))
            for name, off in errors.items()
        ),
    )
    return Findings((ratios, summary), remarks=_REMARKS)


_REMARKS = (
    "The paper's cluster ran MPICH 3.2, whose choices of algorithms SimGrid's selector `mpich` "
    "makes. Calibrated are the two numbers that the paper gives of its ping-pong: what a hop "
    "takes, and what both ends take together. Hosts compute at the 8 Gf of the paper's own "
    "simulation, much more than its processors do, so IS and FT are told to gain more than they "
    "can.",
    "Hosts of this cluster forward what is not theirs in software, on two slow cores, so a host "
    "that has many cables cannot use them all at once, and networks of higher degree gain less "
    "than any model of cables says. `slow hosts` gives each host a limit that is fitted to these "
    "ratios; the others are not fitted to them.",
    "Left out are ratios of programs of another size than ours (FFT of 2 GB, Graph500 of scale 27) "
    "and those that the paper draws and does not write down.",
)

DENG_MODELS = Study(
    "deng-models",
    "Deng et al. 2019, figures 4 to 8, table 3",
    "measured ratios beside those of the fluid model and of packets",
    _run,
    "5 minutes",
)

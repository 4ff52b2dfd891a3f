"""Deng et al. (2019), figures 3 to 8 and 10, tables 3 and 6: performance over mean path length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from searchspace.topology.metrics import measure
from studies.deng_networks import TABLES, Row, network
from studies.laboratory import DENG, Laboratory
from studies.statistics import line_fit
from studies.study import Cell, Findings, Plot, Points, Study, Table

__all__ = ["DENG_BENCHMARKS"]

Benchmark = tuple[str, str, Mapping[str, Any]]
"""A name for people, a built-in program and its parameters."""


def _collective(operation: str, size: int, label: str) -> Benchmark:
    parameters = {"operation": operation, "bytes": size}
    return f"{operation} {label}", "collective", parameters


_OPERATIONS = ("bcast", "reduce", "scatter", "alltoall")
_COLLECTIVES = tuple(
    _collective(operation, size, label)
    for size, label in ((1 << 20, "1 MB"), (32 << 20, "32 MB"))
    for operation in _OPERATIONS
)
_APPLICATIONS: tuple[Benchmark, ...] = (
    ("b_eff", "beff", {}),
    ("FFT 2^21", "fft1d", {"log2n": 21}),
    ("Graph500", "graph500", {"scale": 12}),
    *((f"{name.upper()}.A", name, {"class": "A"}) for name in ("is", "cg", "mg", "ft", "lu")),
)
_QUICK: tuple[Benchmark, ...] = (
    *(_collective(operation, 1 << 16, "64 kB") for operation in _OPERATIONS),
    ("b_eff", "beff", {"longest": 65536}),
    ("FFT 2^16", "fft1d", {"log2n": 16}),
    ("Graph500", "graph500", {"scale": 8, "searches": 4}),
    *((f"{name.upper()}.S", name, {"class": "S"}) for name in ("is", "cg", "mg")),
)
_LARGE: tuple[Benchmark, ...] = (
    _collective("alltoall", 64 << 10, "64 kB"),
    _collective("alltoall", 512 << 10, "512 kB"),
    ("b_eff", "beff", {}),
    ("FFT 2^21", "fft1d", {"log2n": 21}),
    ("Graph500", "graph500", {"scale": 12}),
    *((f"{name.upper()}.A", name, {"class": "A"}) for name in ("is", "ft")),
)
_DRAGONFLY: tuple[Benchmark, ...] = (
    ("b_eff", "beff", {}),
    ("Graph500", "graph500", {"scale": 12}),
)
_SMALL_ALLTOALL = (
    _collective("alltoall", 1 << 20, "1 MB"),
    _collective("alltoall", 32 << 20, "32 MB"),
)
_LARGE_ALLTOALL = _LARGE[:2]

_PAPER_3 = {
    (20, 4): (1.09, 1.14, 1.22, 1.46),
    (30, 5): (1.14, 1.23, 1.67, 1.80),
    (36, 5): (1.02, 1.03, 1.15, 1.32),
}
_PAPER_6 = {(252, 11): (1.14, 0.97, 1.92, 2.57), (264, 11): (0.92, 1.05, 1.72, 2.29)}


def _times(
    laboratory: Laboratory, row: Row, benchmarks: Sequence[Benchmark]
) -> tuple[float, list[float]]:
    """The mean path length of a network and the time of each benchmark on it."""
    graph = network(row, laboratory)
    times = []
    for label, name, parameters in benchmarks:
        laboratory.say(f"{label} on {row.name}")
        times.append(laboratory.program(name, row.nodes, **parameters).time(graph, DENG))
    return measure(graph).aspl, times


def _over_ring(laboratory: Laboratory, nodes: tuple[int, ...], number: int) -> Findings:
    benchmarks = _LARGE if number == 4 else (*_COLLECTIVES, *_APPLICATIONS)
    benchmarks = _QUICK if laboratory.quick else benchmarks
    labels = tuple(label for label, _, _ in benchmarks)
    tables, plots = [], []
    for size in nodes[:1] if laboratory.quick else nodes:
        found = {
            row.name: _times(laboratory, row, benchmarks)
            for row in TABLES[number]
            if row.nodes == size
        }
        ring = found[f"({size},2)-Ring"][1]
        ratios = {
            name: (aspl, [base / time for base, time in zip(ring, times, strict=True)])
            for name, (aspl, times) in found.items()
        }
        rows: list[tuple[Cell, ...]] = [
            (name, round(aspl, 3), *(round(ratio, 2) for ratio in each))
            for name, (aspl, each) in ratios.items()
        ]
        inverse = [1 / aspl for aspl, _ in ratios.values()]
        correlations = [
            round(line_fit(inverse, [each[i] for _, each in ratios.values()])[2], 3)
            for i in range(len(labels))
        ]
        rows.append(("correlation with 1 / MPL", None, *correlations))
        title = f"Performance on {size} nodes, relative to the ring"
        tables.append(Table(title, ("network", "MPL", *labels), tuple(rows)))
        plots.append(
            Plot(
                f"performance-{size}",
                title,
                "mean path length, hops",
                "performance / performance of the ring",
                tuple(
                    Points(
                        label,
                        tuple(aspl for aspl, _ in ratios.values()),
                        tuple(each[i] for _, each in ratios.values()),
                    )
                    for i, label in enumerate(labels)
                ),
                logarithmic="x",
            )
        )
    return Findings(tuple(tables), tuple(plots))


def _over_dragonfly(laboratory: Laboratory, number: int) -> Findings:
    alltoall = _SMALL_ALLTOALL if number == 2 else _LARGE_ALLTOALL
    paper = _PAPER_3 if number == 2 else _PAPER_6
    benchmarks: tuple[Benchmark, ...] = (*_DRAGONFLY, *alltoall)
    if laboratory.quick:
        alltoall_quick = _collective("alltoall", 1 << 14, "16 kB")
        benchmarks = (_QUICK[4], _QUICK[6], alltoall_quick, alltoall_quick)
        paper = dict(list(paper.items())[:1])
    rows = []
    for (nodes, degree), theirs in paper.items():
        pair = [row for row in TABLES[number] if (row.nodes, row.degree) == (nodes, degree)]
        optimal, dragonfly = (_times(laboratory, row, benchmarks)[1] for row in pair)
        for (label, _, _), ours, base, reported in zip(
            benchmarks, optimal, dragonfly, theirs, strict=True
        ):
            rows.append((f"({nodes},{degree})", label, round(base / ours, 2), reported))
    title = "Performance of the optimal network relative to the dragonfly"
    return Findings((Table(title, ("network", "benchmark", "ours", "paper"), tuple(rows)),))


def _study(name: str, what: str, run: Callable[[Laboratory], Findings], takes: str) -> Study:
    source = f"Deng et al. 2019, {what}"
    return Study(name, source, "performance of benchmarks over mean path length", run, takes)


DENG_BENCHMARKS = (
    _study(
        "deng-figures-3-8",
        "figures 3 to 8",
        partial(_over_ring, nodes=(16, 32), number=1),
        "an hour",
    ),
    _study("deng-figure-10", "figure 10", partial(_over_ring, nodes=(256,), number=4), "a day"),
    _study("deng-table-3", "table 3", partial(_over_dragonfly, number=2), "an hour"),
    _study("deng-table-6", "table 6", partial(_over_dragonfly, number=5), "a day"),
)

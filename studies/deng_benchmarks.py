"""Deng et al. (2019), figures 3 to 8 and 10, tables 3 and 6: performance over mean path length."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from searchspace.topology.metrics import measure
from studies.deng_latency import mean_latency
from studies.deng_networks import TABLES, Row, network
from studies.laboratory import DENG, Laboratory
from studies.recordings import Case
from studies.statistics import line_fit
from studies.study import Cell, Claim, Findings, Plot, Points, Study, Table

__all__ = [
    "DENG_BENCHMARKS",
    "Benchmark",
    "benchmark_time",
    "collective_benchmark",
    "npb_benchmark",
]

_ROOTS, _ROOTS_QUICK = 16, 4
_EVEN = 1.25  # spread of times below which networks count as equal
_STRONG = 0.7  # correlation


@dataclass(frozen=True)
class Benchmark:
    """A program whose time is taken on every network.

    Attributes:
        label: A name for people.
        program: A built-in program; empty for the mean ping-pong latency of all pairs.
        parameters: Of the program.
        rooted: Whether it has a root, over which the paper takes the mean.
        paper: What the paper's text says of it: performance of (16,4)- and (32,4)-Optimal relative
            to the ring.
        configuration: The choices of the MPI library, where they are not SMPI's own.
    """

    label: str
    program: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rooted: bool = False
    paper: Mapping[int, float] = field(default_factory=dict)
    configuration: Mapping[str, Any] | None = None


def collective_benchmark(
    operation: str, size: int, label: str, paper: Mapping[int, float] | None = None
) -> Benchmark:
    """A collective, `size` bytes for each rank."""
    parameters = {"operation": operation, "bytes": size}
    rooted = operation != "alltoall"
    return Benchmark(
        f"{operation} {label}", "collective", parameters, rooted=rooted, paper=paper or {}
    )


def npb_benchmark(name: str, class_: str, paper: Mapping[int, float] | None = None) -> Benchmark:
    """A program of the NAS parallel benchmarks."""
    label = f"{name.upper()}.{class_}"
    return Benchmark(label, name, {"class": class_}, paper=paper or {})


_OPERATIONS = ("bcast", "reduce", "scatter", "alltoall")
_PING_PONG = Benchmark("ping-pong", "")
_SMALL: tuple[Benchmark, ...] = (
    _PING_PONG,
    *(collective_benchmark(operation, 1_000_000, "1 MB") for operation in _OPERATIONS[:3]),
    collective_benchmark("alltoall", 1_000_000, "1 MB", {16: 2.16, 32: 2.79}),
    *(collective_benchmark(operation, 32_000_000, "32 MB") for operation in _OPERATIONS[:3]),
    collective_benchmark("alltoall", 32_000_000, "32 MB", {16: 1.87, 32: 2.64}),
    Benchmark("b_eff", "beff"),
    Benchmark("FFT 2^21", "fft1d", {"log2n": 21}),
    Benchmark("Graph500", "graph500", {"scale": 12}, paper={16: 3.05, 32: 5.41}),
    npb_benchmark("is", "A", {16: 2.70, 32: 3.89}),
    npb_benchmark("cg", "A"),
    npb_benchmark("mg", "A"),
    npb_benchmark("ft", "A", {16: 1.72, 32: 2.31}),
    npb_benchmark("lu", "A"),
)
_SMALL_QUICK: tuple[Benchmark, ...] = (
    _PING_PONG,
    *(collective_benchmark(operation, 64_000, "64 kB") for operation in _OPERATIONS),
    Benchmark("b_eff", "beff", {"longest": 65536}),
    Benchmark("FFT 2^16", "fft1d", {"log2n": 16}),
    Benchmark("Graph500", "graph500", {"scale": 8, "searches": 4}),
    *(npb_benchmark(name, "S") for name in ("is", "cg", "mg", "ft", "lu")),
)
_GLOBAL = ("alltoall", "b_eff", "FFT", "Graph500", "IS", "FT")
"""Benchmarks of global communication, for which the paper claims most."""

_LARGE: tuple[Benchmark, ...] = (
    collective_benchmark("alltoall", 64_000, "64 kB"),
    collective_benchmark("alltoall", 512_000, "512 kB"),
    Benchmark("b_eff", "beff"),
    Benchmark("FFT 2^21", "fft1d", {"log2n": 21}),
    Benchmark("Graph500", "graph500", {"scale": 12}),
    npb_benchmark("is", "A"),
    npb_benchmark("ft", "A"),
)
_LARGE_QUICK: tuple[Benchmark, ...] = (
    collective_benchmark("alltoall", 64, "64 B"),
    Benchmark("FFT 2^16", "fft1d", {"log2n": 16}),
)

_PAPER_3 = {
    (20, 4): (1.09, 1.14, 1.22, 1.46),
    (30, 5): (1.14, 1.23, 1.67, 1.80),
    (36, 5): (1.02, 1.03, 1.15, 1.32),
}
_RING = {"collectives": {"alltoall": "ring"}}
_RING_REMARK = (
    "All-to-alls go by `ring`, which is Open MPI's pairwise exchange: SMPI's own choice on 264 "
    "ranks, and of 512 kB on 252, is one that works only for powers of two."
)
_PAPER_6 = {(252, 11): (1.14, 0.97, 1.92, 2.57), (264, 11): (0.92, 1.05, 1.72, 2.29)}


def benchmark_time(
    laboratory: Laboratory,
    row: Row,
    benchmark: Benchmark,
    machine: Mapping[str, Any] | None = None,
    configuration: Mapping[str, Any] | None = None,
) -> float:
    """Simulated seconds of a benchmark on a network.

    Args:
        laboratory: Where it is simulated.
        row: The network.
        benchmark: What runs.
        machine: The rest of the machine; None for Deng's under the model of the laboratory.
        configuration: The choices of the MPI library; None for those of the benchmark.
    """
    laboratory.say(f"{benchmark.label} on {row.name}")
    configuration = benchmark.configuration if configuration is None else configuration
    graph = network(row, laboratory)
    machine = laboratory.machine(DENG) if machine is None else machine
    if not benchmark.program:
        return mean_latency(laboratory, graph)
    program = laboratory.program(benchmark.program, row.nodes, **benchmark.parameters)
    if not benchmark.rooted:
        return program.time(graph, machine, configuration=configuration)
    roots = min(row.nodes, _ROOTS_QUICK if laboratory.quick else _ROOTS)
    firsts = [row.nodes * root // roots for root in range(roots)]
    turned = [[(rank + first) % row.nodes for rank in range(row.nodes)] for first in firsts]
    return statistics.fmean(
        program.times(Case(graph, machine, configuration, hosts) for hosts in turned)
    )


def _over_ring(laboratory: Laboratory, nodes: tuple[int, ...], number: int) -> Findings:
    small = number == 1
    if laboratory.quick:
        benchmarks = _SMALL_QUICK if small else _LARGE_QUICK
    else:
        benchmarks = _SMALL if small else _LARGE
    tables, plots, claims = [], [], []
    for size in nodes[:1] if laboratory.quick else nodes:
        rows = [row for row in TABLES[number] if row.nodes == size]
        lengths = [measure(network(row, laboratory)).aspl for row in rows]
        times = {b.label: [benchmark_time(laboratory, row, b) for row in rows] for b in benchmarks}
        # The ring is the last row of each size.
        ratios = {label: [each[-1] / time for time in each] for label, each in times.items()}
        tables.append(_ratio_table(size, rows, lengths, ratios, benchmarks))
        plots += _plots(size, lengths, ratios, "xy" if number == 4 else "")
        claims += _claims(size, rows, lengths, ratios)
    return Findings(tuple(tables), tuple(plots), tuple(claims), _REMARKS)


_REMARKS = (
    "Performance is the reciprocal of the simulated makespan, also of b_eff (whose own figure is a "
    "mean of bandwidths). Broadcast, reduction and scatter: mean over roots. The paper's figures "
    "in the row `paper` are measurements of its cluster, for (N,4)-Optimal, those of IS, FT and "
    "Graph500 with other sizes too (class A; scale 27); it gives the rest as plots only.",
)


def _ratio_table(
    size: int,
    rows: Sequence[Row],
    lengths: Sequence[float],
    ratios: Mapping[str, Sequence[float]],
    benchmarks: Sequence[Benchmark],
) -> Table:
    lines: list[tuple[Cell, ...]] = [
        (row.name, round(length, 3), *(round(each[i], 2) for each in ratios.values()))
        for i, (row, length) in enumerate(zip(rows, lengths, strict=True))
    ]
    reported = [benchmark.paper.get(size) for benchmark in benchmarks]
    if any(reported):
        lines.insert(1, (f"paper: {rows[0].name}", rows[0].aspl, *reported))
    correlations = [round(_correlation(lengths, each), 3) for each in ratios.values()]
    lines.append(("correlation with 1 / MPL", None, *correlations))
    title = f"Performance on {size} nodes, relative to the ring"
    return Table(title, ("network", "MPL", *ratios), tuple(lines))


def _plots(
    size: int, lengths: Sequence[float], ratios: Mapping[str, Sequence[float]], logarithmic: str
) -> list[Plot]:
    """A plot of collectives, one of NPB and one of the others, as in the paper."""
    groups: dict[str, list[Points]] = {}
    for label, each in ratios.items():
        kind = "npb" if "." in label else "applications"
        kind = "collectives" if label.startswith(_OPERATIONS) else kind
        groups.setdefault(kind, []).append(Points(label, tuple(lengths), tuple(each)))
    return [
        Plot(
            f"{kind}-{size}",
            f"Performance on {size} nodes, relative to the ring",
            "mean path length, hops",
            "performance / performance of the ring",
            tuple(series),
            logarithmic,
        )
        for kind, series in groups.items()
    ]


def _correlation(lengths: Sequence[float], ratios: Sequence[float]) -> float:
    return line_fit([1 / length for length in lengths], ratios)[2]


def _claims(
    size: int,
    rows: Sequence[Row],
    lengths: Sequence[float],
    ratios: Mapping[str, Sequence[float]],
) -> list[Claim]:
    """The paper's directions, held against the times on one size of network."""
    heavy = {label: each for label, each in ratios.items() if label.startswith(_GLOBAL)}
    found = {label: _correlation(lengths, each) for label, each in heavy.items()}
    weak = [label for label, value in found.items() if value < _STRONG]
    claims = [
        Claim(
            f"{size} nodes: global communication is the faster the smaller the MPL is",
            f"correlation with 1 / MPL {min(found.values()):.2f} to {max(found.values()):.2f}",
            not weak,
            f"below {_STRONG}: {', '.join(weak)}" if weak else "",
        )
    ]
    beaten = [
        f"{label}: {row.name} {each[i]:.2f}, optimal {each[_optimal(rows, row.degree)]:.2f}"
        for label, each in heavy.items()
        for i, row in enumerate(rows)
        if row.degree > 2 and each[i] > each[_optimal(rows, row.degree)] * 1.005
    ]
    cases = len(heavy) * sum(row.degree > 2 and row.kind != "Optimal" for row in rows)
    claims.append(
        Claim(
            f"{size} nodes: of each degree, the optimal network is fastest in global communication",
            f"in {cases - len(beaten)} of {cases} comparisons",
            not beaten,
            "; ".join(beaten),
        )
    )
    if "LU.A" in ratios:
        spread = max(ratios["LU.A"]) / min(ratios["LU.A"])
        claims.append(
            Claim(
                f"{size} nodes: LU is nearly the same on all networks",
                f"fastest / slowest {spread:.2f}",
                spread < _EVEN,
                "LU's many small messages meet 30 us a hop here, and its computation is declared "
                "at 8 Gf a core, faster than the Celeron of the paper's cluster",
            )
        )
    return claims


def _optimal(rows: Sequence[Row], degree: int) -> int:
    return next(i for i, r in enumerate(rows) if (r.kind, r.degree) == ("Optimal", degree))


def _over_dragonfly(laboratory: Laboratory, number: int) -> Findings:
    small = number == 2
    sizes = ((1_000_000, "1 MB"), (32_000_000, "32 MB"))
    if not small:
        sizes = ((64_000, "64 kB"), (512_000, "512 kB"))
    paper: Mapping[tuple[int, int], tuple[float | None, ...]] = _PAPER_3 if small else _PAPER_6
    benchmarks: tuple[Benchmark, ...] = (
        Benchmark("b_eff", "beff"),
        Benchmark("Graph500", "graph500", {"scale": 12}),
        *(collective_benchmark("alltoall", size, label) for size, label in sizes),
    )
    remarks: tuple[str, ...] = ()
    if not small and not laboratory.quick:
        by_ring = (replace(one, configuration=_RING) for one in benchmarks[2:])
        benchmarks = (*benchmarks[:2], *by_ring)
        remarks = (_RING_REMARK,)
    if laboratory.quick and small:
        benchmarks = (
            Benchmark("b_eff", "beff", {"longest": 65536}),
            Benchmark("Graph500", "graph500", {"scale": 8, "searches": 4}),
            *benchmarks[2:],
        )
        paper = dict(list(paper.items())[:1])
    elif laboratory.quick:
        # Everything else that the paper measures takes minutes on 252 ranks.
        benchmarks = (collective_benchmark("alltoall", 64, "64 B"),)
        paper = dict.fromkeys(paper, (None,))
    rows: list[tuple[Cell, ...]] = []
    alltoall: list[float] = []
    behind: list[str] = []
    for (nodes, degree), theirs in paper.items():
        pair = [row for row in TABLES[number] if (row.nodes, row.degree) == (nodes, degree)]
        for benchmark, reported in zip(benchmarks, theirs, strict=True):
            optimal, dragonfly = (benchmark_time(laboratory, row, benchmark) for row in pair)
            ours = dragonfly / optimal
            rows.append((f"({nodes},{degree})", benchmark.label, round(ours, 2), reported))
            if benchmark.label.startswith("alltoall"):
                alltoall.append(ours)
                if round(ours, 2) <= 1:  # as the figure is told
                    behind.append(f"({nodes},{degree}), {benchmark.label}")
    title = "Performance of the optimal network relative to the dragonfly"
    claim = Claim(
        "all-to-all is faster on the optimal network than on the dragonfly",
        f"{min(alltoall):.2f} to {max(alltoall):.2f} times as fast",
        not behind,
        f"not faster: {'; '.join(behind)}" if behind else "",
    )
    table = Table(title, ("network", "benchmark", "ours", "paper"), tuple(rows))
    return Findings((table,), claims=(claim,), remarks=remarks)


_DESCRIPTION = "performance of benchmarks over mean path length"

DENG_BENCHMARKS = (
    Study(
        "deng-figures-3-8",
        "Deng et al. 2019, figures 3 to 8",
        _DESCRIPTION,
        partial(_over_ring, nodes=(16, 32), number=1),
        "3 minutes",
        network_chosen=True,
    ),
    Study(
        "deng-figure-10",
        "Deng et al. 2019, figure 10",
        _DESCRIPTION,
        partial(_over_ring, nodes=(256,), number=4),
        "hours",
        network_chosen=True,
    ),
    Study(
        "deng-table-3",
        "Deng et al. 2019, table 3",
        "optimal networks of 20 to 36 nodes relative to dragonflies",
        partial(_over_dragonfly, number=2),
        "2 minutes",
        network_chosen=True,
    ),
    Study(
        "deng-table-6",
        "Deng et al. 2019, table 6",
        "optimal networks of 252 and 264 nodes relative to dragonflies",
        partial(_over_dragonfly, number=5),
        "hours",
        network_chosen=True,
    ),
)

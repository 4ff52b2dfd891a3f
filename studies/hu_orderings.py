"""Hu (2023), figure 5: execution time by the ordering of random networks."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from searchspace.graph import Graph
from searchspace.machine import NetworkModel
from searchspace.ordering import ORDERINGS, order
from searchspace.ordering.metrics import adjacency, aspl_of_blocks
from searchspace.topology import generate
from studies.hu_programs import NODES, hu_programs
from studies.laboratory import HU, Laboratory
from studies.recordings import Case, Program
from studies.statistics import geometric_mean, half_interval
from studies.study import Cell, Claim, Findings, Plot, Points, Study, Table

__all__ = ["HU_ORDERINGS"]

_PROGRAMS = ("ft", "is", "cg", "bt", "sp", "mg", "lu", "mm", "graph500")
_PROGRAMS_QUICK = ("mg", "mm", "cg")
_ORDERINGS_QUICK = ("original", "gorder", "hamorder", "hamiltonian", "blocks")
_NETWORKS: Mapping[NetworkModel, int] = {"packets": 20, "fluid": 5}
"""How many of each degree; as a fluid, FT and Graph500 take 16 CPU seconds a run."""
_NETWORKS_QUICK = 5
_DEGREES = (4, 6)
_PAPER: Mapping[tuple[int, str], float] = {
    (4, "hamorder"): 1 - 0.121,
    (4, "gorder"): (1 - 0.121) / (1 - 0.040),
    (6, "hamorder"): 1 - 0.174,
    (6, "gorder"): (1 - 0.174) / (1 - 0.112),
}
"""Mean time relative to the original order; Gorder's from Hamorder's gain over it."""

_BASE = "the original order"
_KEYS = {_BASE: "original", "Gorder": "gorder"}
_BLOCK = 8

_PAIR = ("hamorder", "gorder")
_PAIR_TITLE = "How much faster Hamorder is than Gorder, %, by program and rule for equal routes"

Times = Mapping[str, Mapping[str, Sequence[float]]]
"""By ordering and program: time on each network, in seconds or relative to the original order."""


def _run(laboratory: Laboratory) -> Findings:
    names = _PROGRAMS_QUICK if laboratory.quick else _PROGRAMS
    orderings = _ORDERINGS_QUICK if laboratory.quick else tuple(ORDERINGS)
    networks = _NETWORKS_QUICK if laboratory.quick else _NETWORKS[laboratory.network]
    programs = hu_programs(laboratory, names)
    machine = laboratory.machine(HU)
    tables: list[Table] = []
    plots, claims, pairs = [], [], []
    for degree in _DEGREES:
        relative: dict[str, dict[str, list[float]]] = {o: {n: [] for n in names} for o in orderings}
        closeness: dict[str, list[tuple[float, float, float]]] = {o: [] for o in orderings}
        spread: dict[str, dict[str, list[float]]] = {o: {n: [] for n in names} for o in _PAIR}
        for seed in range(laboratory.seed, laboratory.seed + networks):
            laboratory.say(f"degree {degree}, network {seed - laboratory.seed + 1} of {networks}")
            network = generate("random", NODES, degree=degree, seed=seed)
            renumbered = {o: network.relabel(order(o, network)) for o in orderings}
            for ordering, graph in renumbered.items():
                closeness[ordering].append(_closeness(graph, programs.values()))
            for name, program in programs.items():
                graphs = [network, *renumbered.values()]
                base, *times = program.times(Case(graph, machine) for graph in graphs)
                for ordering, seconds in zip(renumbered, times, strict=True):
                    relative[ordering][name].append(seconds / base)
                routed = {**machine, "tie_rule": "spread"}
                times = program.times(Case(renumbered[ordering], routed) for ordering in _PAIR)
                for ordering, seconds in zip(_PAIR, times, strict=True):
                    spread[ordering][name].append(seconds)
        near = {ordering: _mean_columns(each) for ordering, each in closeness.items()}
        tables += [_table(degree, names, relative), _closeness_table(degree, near)]
        plots.append(_plot(degree, names, relative))
        claims += _claims(degree, relative, near)
        pairs += [
            _pair(degree, "lowest-id", names, relative),
            _pair(degree, "spread", names, spread),
        ]
    tables.append(
        Table(_PAIR_TITLE, ("degree", "routes", *map(str.upper, names), "mean"), tuple(pairs))
    )
    return Findings(tuple(tables), tuple(plots), tuple(claims), _REMARKS)


_REMARKS = (
    "Mean over the networks of the time relative to the original order, with half its 95% "
    "confidence interval; `mean` is that of each network's geometric mean over the programs. The "
    "paper shows one network for each degree and gives means over its programs only.",
    "On regular networks `dbg`, `hubsort` and `degree` keep the original order, since all nodes "
    "have the same degree.",
    "Routes: of several shortest ones messages take that of the least ids, or one by the number of "
    "the host at its end (`tie_rule`).",
    "Hops of a byte: point-to-point messages, mean over the programs that send any.",
)


def _means(by_program: Mapping[str, Sequence[float]]) -> list[float]:
    """Of each network, the geometric mean over the programs."""
    return [geometric_mean(each) for each in zip(*by_program.values(), strict=True)]


def _with_interval(values: Sequence[float]) -> str:
    interval = half_interval(values)
    spread = "" if interval is None else f" ± {interval:.3f}"
    return f"{statistics.fmean(values):.3f}{spread}"


def _table(degree: int, names: Sequence[str], relative: Times) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for ordering, by_program in relative.items():
        cells = [_with_interval(by_program[name]) for name in names]
        paper = _PAPER.get((degree, ordering))
        mean = _with_interval(_means(by_program))
        rows.append((ordering, *cells, mean, None if paper is None else round(paper, 3)))
    return Table(
        f"Time on random networks of 64 nodes and degree {degree}, relative to the original order",
        ("ordering", *(name.upper() for name in names), "mean", "paper's mean"),
        tuple(rows),
    )


def _plot(degree: int, names: Sequence[str], relative: Times) -> Plot:
    # Orderings that keep the original order would only draw the same points again.
    distinct = {
        ordering: [*by_program.values(), _means(by_program)]
        for ordering, by_program in relative.items()
        if any(value != 1 for values in by_program.values() for value in values)
    }
    points = tuple(
        Points(
            ordering,
            tuple(float(place) for place in range(len(each))),
            tuple(statistics.fmean(values) for values in each),
            errors=tuple(half_interval(values) or 0.0 for values in each),
        )
        for ordering, each in distinct.items()
    )
    title = f"Random networks of 64 nodes, degree {degree}: time by ordering, 95% intervals"
    ticks = (*(name.upper() for name in names), "mean")
    return Plot(f"degree-{degree}", title, "", "time / original order", points, ticks=ticks)


def _closeness(graph: Graph, programs: Iterable[Program]) -> tuple[float, float, float]:
    """Share of consecutive ids joined, hops in blocks of 8, hops of a byte over the programs."""
    hops = [h for program in programs if (h := program.hops_of_a_byte(graph)) is not None]
    return adjacency(graph), aspl_of_blocks(graph)[_BLOCK], statistics.fmean(hops)


def _mean_columns(rows: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    joined, block, byte = (statistics.fmean(column) for column in zip(*rows, strict=True))
    return joined, block, byte


def _closeness_table(degree: int, near: Mapping[str, tuple[float, float, float]]) -> Table:
    rows = tuple(
        (ordering, round(joined, 3), round(block, 3), round(byte, 3))
        for ordering, (joined, block, byte) in near.items()
    )
    title = f"How near each ordering of degree {degree} puts ranks"
    columns = (
        "ordering",
        "consecutive ids joined",
        f"hops in blocks of {_BLOCK}",
        "hops of a byte",
    )
    return Table(title, columns, rows)


def _pair(degree: int, routes: str, names: Sequence[str], times: Times) -> tuple[Cell, ...]:
    """Hamorder's gain over Gorder of each program, and of their geometric mean: paired, in %."""
    hamorder, gorder = (times[ordering] for ordering in _PAIR)
    gains = [_gain(hamorder[name], gorder[name]) for name in names]
    return (degree, routes, *gains, _gain(_means(hamorder), _means(gorder)))


def _gain(ours: Sequence[float], theirs: Sequence[float]) -> str:
    gains = [100 * (1 - one / other) for one, other in zip(ours, theirs, strict=True)]
    return f"{statistics.fmean(gains):.1f} ± {half_interval(gains) or 0.0:.1f}"


def _claims(
    degree: int, relative: Times, near: Mapping[str, tuple[float, float, float]]
) -> list[Claim]:
    """The paper's directions, by paired differences over the networks."""
    hamorder, gorder = _means(relative["hamorder"]), _means(relative["gorder"])
    pairs = {_BASE: [1.0] * len(hamorder), "Gorder": gorder}
    claims = []
    for other, theirs in pairs.items():
        gains = [1 - ours / base for ours, base in zip(hamorder, theirs, strict=True)]
        gain, interval = statistics.fmean(gains), half_interval(gains) or 0.0
        reported = 1 - _PAPER[degree, "hamorder"]
        if other == "Gorder":
            reported = 1 - _PAPER[degree, "hamorder"] / _PAPER[degree, "gorder"]
        claims.append(
            Claim(
                f"degree {degree}: Hamorder is faster than {other}, by {reported:.1%} on average",
                f"{gain:.1%} ± {interval:.1%}",
                gain - interval > 0,
                "" if gain > interval else _why(other, gain, interval, near),
            )
        )
    return claims


def _why(
    other: str, gain: float, interval: float, near: Mapping[str, tuple[float, float, float]]
) -> str:
    """What tells Hamorder's placement from the other's."""
    (_, block, byte), (_, their_block, their_byte) = near["hamorder"], near[_KEYS[other]]
    clear = "slower" if gain + interval < 0 else "no clear difference"
    return (
        f"{clear}: a point-to-point byte travels {byte:.2f} hops under Hamorder and "
        f"{their_byte:.2f} under {other}, blocks of {_BLOCK} are {block:.2f} and "
        f"{their_block:.2f} hops wide; partners of these programs are more than neighbours in rank"
    )


HU_ORDERINGS = Study(
    "hu-figure-5",
    "Hu 2023, figure 5",
    "execution time on random networks by the ordering of their nodes",
    _run,
    "hours",
    network_chosen=True,
)

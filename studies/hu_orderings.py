"""Hu (2023), figure 5: execution time by the ordering of random networks."""

from __future__ import annotations

import statistics

from searchspace.ordering import ORDERINGS
from searchspace.topology import generate
from studies.hu_programs import NODES, hu_programs
from studies.laboratory import HU, Laboratory
from studies.statistics import geometric_mean, half_interval
from studies.study import Cell, Findings, Study, Table

__all__ = ["HU_ORDERINGS"]

_PROGRAMS = ("ft", "is", "cg", "bt", "sp", "mg", "lu", "mm", "graph500")
_QUICK_PROGRAMS = ("mg", "mm", "is")
_QUICK_ORDERINGS = ("original", "gorder", "hamorder", "hamiltonian", "blocks")
_DEGREES = (4, 6)
_PAPER = {
    (4, "hamorder"): "-12.1% (and -4.0% against Gorder)",
    (6, "hamorder"): "-17.4% (and -11.2% against Gorder)",
}


def _run(laboratory: Laboratory) -> Findings:
    names = _QUICK_PROGRAMS if laboratory.quick else _PROGRAMS
    orderings = _QUICK_ORDERINGS if laboratory.quick else tuple(ORDERINGS)
    networks = 2 if laboratory.quick else 20
    programs = hu_programs(laboratory, names)
    tables = []
    for degree in _DEGREES:
        relative: dict[str, dict[str, list[float]]] = {o: {n: [] for n in names} for o in orderings}
        for seed in range(laboratory.seed, laboratory.seed + networks):
            laboratory.say(f"degree {degree}, network {seed - laboratory.seed + 1} of {networks}")
            network = generate("random", NODES, degree=degree, seed=seed)
            for name, program in programs.items():
                base = program.time(network, HU)
                for ordering in orderings:
                    time = program.time(network, HU, configuration={"ordering": ordering})
                    relative[ordering][name].append(time / base)
        tables.append(_table(degree, names, relative))
    return Findings(tuple(tables), remarks=(_REMARK,))


_REMARK = (
    "Each cell is the mean over the networks of the time relative to the original order, with half "
    "its 95% confidence interval; the last column is the geometric mean over the programs. The "
    "paper shows one network for each degree and reports a mean over its programs."
)


def _table(
    degree: int, names: tuple[str, ...], relative: dict[str, dict[str, list[float]]]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for ordering, by_program in relative.items():
        cells = []
        for name in names:
            interval = half_interval(by_program[name])
            spread = "" if interval is None else f" ± {interval:.3f}"
            cells.append(f"{statistics.fmean(by_program[name]):.3f}{spread}")
        mean = geometric_mean([statistics.fmean(values) for values in by_program.values()])
        rows.append((ordering, *cells, round(mean, 3), _PAPER.get((degree, ordering))))
    return Table(
        f"Time on random networks of 64 nodes and degree {degree}, relative to the original order",
        ("ordering", *(name.upper() for name in names), "mean", "paper"),
        tuple(rows),
    )


HU_ORDERINGS = Study(
    "hu-figure-5",
    "Hu 2023, figure 5",
    "execution time on random networks by the ordering of their nodes",
    _run,
    "a day",
)

"""Hu (2023), table 2: execution time on a random network by the dilation of the embedding."""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence

from searchspace.errors import HamtuneError
from searchspace.graph import Graph
from searchspace.mapping.embedding import embed
from searchspace.topology import generate
from studies.hu_programs import NODES, hu_programs
from studies.laboratory import HU, Laboratory
from studies.recordings import Case
from studies.statistics import half_interval
from studies.study import Cell, Claim, Findings, Plot, Points, Study, Table

__all__ = ["HU_EMBEDDINGS"]

_PAPER = {
    "ft": (0.0200, 0.0296, 0.0125, 0.0128, 0.0131, 0.0135),
    "is": (0.0105, 0.0120, 0.0055, 0.0055, 0.0056, 0.0056),
    "cg": (1.0875, 1.2793, 0.9446, 0.9510, 0.9575, 0.9639),
    "bt": (0.3817, 0.2741, 0.4167, 0.4201, 0.4242, 0.4299),
    "sp": (0.6189, 0.4629, 0.6779, 0.6832, 0.6889, 0.6958),
    "mg": (0.0285, 0.0275, 0.0234, 0.0241, 0.0247, 0.0254),
    "mm": (0.2932, 0.2713, 0.1855, 0.1881, 0.1865, 0.1872),
}
_REGULAR = ("bt", "sp")
"""Programs that the paper finds faster on the torus than on random networks."""
_DEGREE = 6
_DILATIONS = (1, 2, 3, 4)
_QUICK = ("cg", "mg", "mm")
_NETWORKS, _NETWORKS_QUICK = 20, 3
_GRIDS = ("mesh-3d", "torus-3d")
_MOVES, _MOVES_QUICK = 200_000, 20_000
"""Of the annealing that looks for a network of small mean path length."""


def _hosts_by_dilation(network: Graph, seed: int, dilation: int) -> tuple[int, ...]:
    """Puts consecutive ranks at most `dilation` hops apart, and no closer on purpose."""
    scattered = list(range(NODES))
    random.Random(seed).shuffle(scattered)  # noqa: S311 - reproducibility is wanted, not secrecy
    ring = generate("ring", NODES)
    start = None if dilation == 1 else scattered
    found = embed(ring, network, dilation, seed=seed, start=start)
    if found.stretched:
        raise HamtuneError(f"no embedding of dilation {dilation} was found")
    return found.hosts


def _run(laboratory: Laboratory) -> Findings:
    names = _QUICK if laboratory.quick else tuple(_PAPER)
    count = _NETWORKS_QUICK if laboratory.quick else _NETWORKS
    seeds = range(laboratory.seed, laboratory.seed + count)
    grids = [generate(name, NODES) for name in _GRIDS]
    networks = {seed: generate("random", NODES, degree=_DEGREE, seed=seed) for seed in seeds}
    hosts = {(s, d): _hosts_by_dilation(networks[s], s, d) for s in seeds for d in _DILATIONS}
    moves = _MOVES_QUICK if laboratory.quick else _MOVES
    optimised = laboratory.searched(NODES, _DEGREE, moves)
    along = _hosts_by_dilation(optimised, laboratory.seed, 1)
    machine = laboratory.machine(HU)
    on_grids: dict[str, list[float]] = {}
    on_optimised: dict[str, float] = {}
    on_random: dict[str, list[list[float]]] = {}
    travels: dict[str, str] = {}
    for name, program in hu_programs(laboratory, names).items():
        laboratory.say(f"{name} on meshes, tori and {count} random networks")
        on_grids[name] = [program.time(grid, machine) for grid in grids]
        on_optimised[name] = program.time(optimised, machine, hosts=along)
        placed = {
            dilation: [Case(networks[seed], machine, hosts=hosts[seed, dilation]) for seed in seeds]
            for dilation in _DILATIONS
        }
        on_random[name] = [program.times(placed[dilation]) for dilation in _DILATIONS]
        torus = program.hops_of_a_byte(grids[1])
        near = [program.hops_of_a_byte(networks[seed], hosts[seed, 1]) for seed in seeds]
        random_hops = statistics.fmean(h for h in near if h is not None) if torus else 0.0
        travels[name] = (
            f"{torus:.2f} on the torus, {random_hops:.2f} at dilation 1" if torus else "none sent"
        )
    title = f"Execution time, ms, on 64 nodes; random networks of degree 6, mean of {count}"
    columns = (
        *("program", "", "3-D mesh", "3-D torus", "optimised"),
        *(f"dilation {d}" for d in _DILATIONS),
    )
    rows = tuple(
        row
        for name in names
        for row in _rows(
            name, (*on_grids[name], on_optimised[name]), on_random[name], paper=not laboratory.quick
        )
    )
    return Findings(
        (Table(title, columns, rows),),
        (_plot(names, on_grids, on_random),),
        _claims(on_grids, on_random, travels),
        _REMARKS,
    )


_REMARKS = (
    "± is half the 95% confidence interval over the networks; the paper shows one network. It does "
    "not say which virtual topology is embedded; here consecutive ranks are joined in a ring.",
    "`optimised` is a network of degree 6 and small mean path length, numbered along a Hamiltonian "
    "cycle as dilation 1 is; the paper's table has none.",
    "Absolute times differ since the paper's computation was timed on its host, ours is declared; "
    "compare columns.",
)


def _rows(
    name: str, single: Sequence[float], by_dilation: Sequence[Sequence[float]], *, paper: bool
) -> list[tuple[Cell, ...]]:
    cells = []
    for times in by_dilation:
        interval = half_interval(times) or 0.0
        cells.append(f"{1e3 * statistics.fmean(times):.4g} ± {1e3 * interval:.2g}")
    rows: list[tuple[Cell, ...]] = [
        (name.upper(), "ours", *(f"{1e3 * time:.4g}" for time in single), *cells)
    ]
    if paper:
        mesh, torus, *by_paper = (f"{1e3 * time:.4g}" for time in _PAPER[name])
        rows.append((name.upper(), "paper", mesh, torus, None, *by_paper))
    return rows


def _plot(
    names: Sequence[str],
    on_grids: Mapping[str, Sequence[float]],
    on_random: Mapping[str, Sequence[Sequence[float]]],
) -> Plot:
    places = tuple(float(place) for place in range(len(names)))
    torus = [on_grids[name][1] for name in names]
    mesh = tuple(on_grids[name][0] / base for name, base in zip(names, torus, strict=True))
    points = [Points("3-D mesh", places, mesh), Points("3-D torus", places, (1.0,) * len(names))]
    for index, dilation in enumerate(_DILATIONS):
        ratios = [
            [time / base for time in on_random[name][index]]
            for name, base in zip(names, torus, strict=True)
        ]
        points.append(
            Points(
                f"random, dilation {dilation}",
                places,
                tuple(statistics.fmean(each) for each in ratios),
                errors=tuple(half_interval(each) or 0.0 for each in ratios),
            )
        )
    title = "Random networks of degree 6, by dilation of the embedding, 95% intervals"
    ticks = tuple(name.upper() for name in names)
    return Plot("dilation", title, "", "time / time on the 3-D torus", tuple(points), ticks=ticks)


def _claims(
    on_grids: Mapping[str, Sequence[float]],
    on_random: Mapping[str, Sequence[Sequence[float]]],
    travels: Mapping[str, str],
) -> tuple[Claim, ...]:
    closest = {name: statistics.fmean(times[0]) for name, times in on_random.items()}
    irregular = [name for name in closest if name not in _REGULAR]
    lost = [name for name in irregular if closest[name] >= min(on_grids[name])]
    slower = [
        name.upper()
        for name in closest
        if name in _REGULAR and min(closest[name], on_grids[name][0]) < on_grids[name][1]
    ]
    growth = {
        name: statistics.fmean(b / a - 1 for a, b in zip(times[0], times[-1], strict=True))
        for name, times in on_random.items()
    }
    shrinking = [name.upper() for name, value in growth.items() if value <= 0]
    regular = [name.upper() for name in closest if name in _REGULAR]
    claims = [
        Claim(
            "all but BT and SP are faster on random networks (dilation 1) than on mesh and torus",
            f"{len(irregular) - len(lost)} of {len(irregular)}",
            not lost,
            "; ".join(f"not {name.upper()} (hops of a byte: {travels[name]})" for name in lost),
        ),
        Claim(
            "a larger dilation makes programs a little slower (4 against 1: by 0.9 to 8.5%)",
            ", ".join(f"{name.upper()} {value:+.1%}" for name, value in growth.items()),
            not shrinking,
            f"not slower: {', '.join(shrinking)}" if shrinking else "",
        ),
    ]
    if regular:
        claims.append(
            Claim(
                "BT and SP are faster on the 3-D torus than on mesh and random networks "
                "(dilation 1)",
                f"{len(regular) - len(slower)} of {len(regular)}",
                not slower,
                f"not: {', '.join(slower)}" if slower else "",
            )
        )
    return tuple(claims)


HU_EMBEDDINGS = Study(
    "hu-table-2",
    "Hu 2023, table 2",
    "execution time on meshes, tori and random networks by dilation",
    _run,
    "hours",
    network_chosen=True,
)

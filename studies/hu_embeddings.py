"""Hu (2023), table 2: execution time on a random network by the dilation of the embedding."""

from __future__ import annotations

import random
import statistics

from searchspace.errors import HamtuneError
from searchspace.mapping.embedding import embed
from searchspace.topology import generate
from studies.hu_programs import NODES, hu_programs
from studies.laboratory import HU, Laboratory
from studies.study import Cell, Findings, Study, Table

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
_DEGREE = 6
_DILATIONS = (1, 2, 3, 4)
_QUICK = ("mg", "mm", "is")


def _hosts_by_dilation(seed: int, dilation: int) -> tuple[int, ...]:
    """Puts consecutive ranks at most `dilation` hops apart, and no closer on purpose."""
    network = generate("random", NODES, degree=_DEGREE, seed=seed)
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
    seeds = range(laboratory.seed, laboratory.seed + (2 if laboratory.quick else 10))
    grids = [generate(name, NODES) for name in ("mesh-3d", "torus-3d")]
    networks = {seed: generate("random", NODES, degree=_DEGREE, seed=seed) for seed in seeds}
    hosts = {(s, d): _hosts_by_dilation(s, d) for s in seeds for d in _DILATIONS}
    rows: list[tuple[Cell, ...]] = []
    for name, program in hu_programs(laboratory, names).items():
        laboratory.say(f"{name} on meshes, tori and {len(networks)} random networks")
        times = [program.time(grid, HU) for grid in grids]
        for dilation in _DILATIONS:
            times.append(
                statistics.fmean(
                    program.time(networks[seed], HU, hosts=hosts[seed, dilation]) for seed in seeds
                )
            )
        rows.append((name.upper(), "ours", *(float(f"{time:.4g}") for time in times)))
        if not laboratory.quick:
            rows.append((name.upper(), "paper", *_PAPER[name]))
    columns = ("program", "", "3-D mesh", "3-D torus", *(f"dilation {d}" for d in _DILATIONS))
    title = f"Execution time, s, on 64 nodes; random networks of degree 6, mean of {len(networks)}"
    remark = (
        "The paper does not say which virtual topology is embedded; here consecutive ranks are "
        "joined in a ring. Its times for CG, BT and SP are those of its machine's computation too; "
        "compare columns, not absolute times."
    )
    return Findings((Table(title, columns, tuple(rows)),), remarks=(remark,))


HU_EMBEDDINGS = Study(
    "hu-table-2",
    "Hu 2023, table 2",
    "execution time on meshes, tori and random networks by dilation",
    _run,
    "half an hour",
)

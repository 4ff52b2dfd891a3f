"""Bisection width: the fewest cables that any split into two halves cuts.

Finding it is NP-hard, and one partitioner's answer can be several percent too wide. So the width is
the minimum over several verifiers, each improved by our own local search: an upper bound. Beside
it stands a lower bound from the spectrum; where both meet, the width is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from searchspace.graph import Graph
from searchspace.kernels import _native

__all__ = [
    "VERIFIERS",
    "Bisection",
    "Effort",
    "bisection_lower_bound",
    "bisection_width",
    "narrowest_cut",
]

Effort = Literal["quick", "normal", "thorough"]
_Sides = NDArray[np.uint8]
_Edges = NDArray[np.uint32]

_DENSE_NODES = 512
"""Up to here the whole spectrum is computed, which is exact and fast enough."""

_DENSE_SCHUR_NODES = 2048


@dataclass(frozen=True)
class Bisection:
    """The narrowest split found of a network into halves that differ by at most one node.

    Attributes:
        width: Cables that it cuts: an upper bound of the bisection width.
        lower_bound: What no split can be below, from the spectrum.
        partition: The half of each node, 0 or 1; node 0 is in half 0.
        verifier: The key of `VERIFIERS` that found it (the first one, among equals).
        widths: The narrowest split of every verifier.
    """

    width: int
    lower_bound: int
    partition: tuple[int, ...]
    verifier: str
    widths: Mapping[str, int]


@dataclass(frozen=True)
class _Work:
    """How much a verifier may do: splits and sweeps of ours, tries of METIS, runs of KaHIP."""

    starts: int
    sweeps: int
    metis_tries: int
    kahip_runs: int
    kahip_mode: int


_FAST, _ECO, _STRONG = 0, 1, 2  # KaHIP's numbers of its modes
_EFFORTS: dict[Effort, _Work] = {
    "quick": _Work(starts=50, sweeps=30, metis_tries=5, kahip_runs=1, kahip_mode=_FAST),
    "normal": _Work(starts=1000, sweeps=300, metis_tries=20, kahip_runs=3, kahip_mode=_ECO),
    "thorough": _Work(
        starts=10_000, sweeps=10_000, metis_tries=200, kahip_runs=10, kahip_mode=_STRONG
    ),
}
_FULL_WORK_EDGES = 4096
"""Networks with more edges get fewer starts, in proportion, so that the time stays bounded."""


def _scaled(count: int, edges: int, *, least: int = 2) -> int:
    return max(least, count * _FULL_WORK_EDGES // max(edges, _FULL_WORK_EDGES))


@dataclass(frozen=True)
class _Wires:
    """What is split: edges, and how many of the first nodes have to be halved."""

    nodes: int
    edges: _Edges
    counted: int


def _local_search(wires: _Wires, work: _Work, seed: int) -> tuple[int, _Sides]:
    starts = _scaled(work.starts, len(wires.edges))
    return _native.bisect(wires.nodes, wires.edges, starts, seed, wires.counted)


def _annealing(wires: _Wires, work: _Work, seed: int) -> tuple[int, _Sides]:
    sweeps = _scaled(work.sweeps, len(wires.edges))
    return _native.anneal_splits(wires.nodes, wires.edges, sweeps, seed, wires.counted)


def _metis(wires: _Wires, work: _Work, seed: int) -> tuple[int, _Sides]:
    nodes, edges, counted = wires.nodes, wires.edges, wires.counted
    tries = _scaled(work.metis_tries, len(edges))
    sides = _native.metis_split(nodes, edges, tries, seed % (1 << 31), counted)
    return _native.polish_bisection(nodes, edges, sides, counted)


def _kahip(wires: _Wires, work: _Work, seed: int) -> tuple[int, _Sides]:
    # Loaded where it is used: it takes longer than most commands run.
    import kahip

    nodes, edges, counted = wires.nodes, wires.edges, wires.counted
    first, neighbors = _neighbor_arrays(nodes, edges)
    best: tuple[int, _Sides] | None = None
    for run in range(_scaled(work.kahip_runs, len(edges), least=1)):
        _, blocks = kahip.kaffpa(
            [1] * counted + [0] * (nodes - counted),
            first,
            [1] * len(neighbors),
            neighbors,
            2,
            0.0,
            True,
            (seed + run) % (1 << 31),
            work.kahip_mode,
        )
        found = _native.polish_bisection(nodes, edges, np.asarray(blocks, dtype=np.uint8), counted)
        if best is None or found[0] < best[0]:
            best = found
    if best is None:
        raise ValueError("KaHIP needs at least one run")
    return best


VERIFIERS: dict[str, Callable[[_Wires, _Work, int], tuple[int, _Sides]]] = {
    "local-search": _local_search,
    "annealing": _annealing,
    "metis": _metis,
    "kahip": _kahip,
}
"""The heuristics that look for narrow splits: our Fiduccia-Mattheyses from many starts, our
annealing of 512 splits at once, METIS (Karypis and Kumar, 1998) and KaHIP (Sanders and Schulz,
2013)."""


def bisection_width(
    graph: Graph,
    *,
    seed: int = 0,
    effort: Effort = "normal",
    verifiers: Collection[str] = tuple(VERIFIERS),
    halve_hosts: bool = False,
) -> Bisection:
    """Looks for the narrowest bisection with every verifier, or those named.

    Args:
        graph: Any network; one that is not connected has a width of 0 if halves can be put
            together from its parts.
        seed: Of the random choices.
        effort: `quick` takes milliseconds, `normal` under a second and `thorough` some ten seconds
            for a few hundred nodes; above 4,096 cables the number of starts falls in proportion.
        verifiers: Keys of `VERIFIERS`, at least one.
        halve_hosts: Whether only hosts are counted, not the switches beside them: these may lie on
            either side, and a switch may be parted from hosts of its own.

    Returns:
        The narrowest split found, and the lower bound.
    """
    if not graph.edges:
        half = graph.nodes // 2
        partition = (0,) * (graph.nodes - half) + (1,) * half
        return Bisection(0, 0, partition, next(iter(verifiers)), dict.fromkeys(verifiers, 0))
    found = _splits(graph, seed, effort, verifiers, halve_hosts)
    verifier = min(found, key=lambda name: found[name][0])
    width, sides = found[verifier]
    return Bisection(
        width=width,
        lower_bound=min(width, _lower_bound(graph, halve_hosts)),
        partition=tuple((sides ^ sides[0]).tolist()),
        verifier=verifier,
        widths={name: cut for name, (cut, _) in found.items()},
    )


def narrowest_cut(
    graph: Graph, *, seed: int, effort: Effort, verifiers: Collection[str] = tuple(VERIFIERS)
) -> int:
    """Looks for the narrowest bisection as `bisection_width` does; returns its width alone.

    The lower bound, which it leaves out, takes longer than a quick look.
    """
    return min(cut for cut, _ in _splits(graph, seed, effort, verifiers, False).values())


def _splits(
    graph: Graph, seed: int, effort: Effort, verifiers: Collection[str], halve_hosts: bool
) -> dict[str, tuple[int, _Sides]]:
    edges = np.asarray(graph.edges, dtype=np.uint32).reshape(-1, 2)
    wires = _Wires(graph.nodes, edges, graph.hosts if halve_hosts else graph.nodes)
    return {name: VERIFIERS[name](wires, _EFFORTS[effort], seed) for name in verifiers}


def _lower_bound(graph: Graph, halve_hosts: bool) -> int:
    if halve_hosts and graph.switches:
        return hosts_bisection_lower_bound(graph)
    return bisection_lower_bound(graph)


def hosts_bisection_lower_bound(graph: Graph) -> int:
    """Returns the fewest cables that any split can cut that halves the hosts, by the spectrum.

    Of all potentials of the switches between given ones of the hosts, the harmonic ones have the
    least energy, which the Schur complement of the Laplacian gives. So the bound above holds with
    the second smallest eigenvalue of the complement. Above 2,048 nodes it is not computed: 0.
    """
    hosts = graph.hosts
    if hosts < 2 or graph.nodes > _DENSE_SCHUR_NODES or not graph.connected:
        return 0
    ends = np.asarray(graph.edges)
    laplacian = np.diag(np.bincount(ends.ravel(), minlength=graph.nodes).astype(float))
    laplacian[ends[:, 0], ends[:, 1]] = laplacian[ends[:, 1], ends[:, 0]] = -1.0
    between = laplacian[hosts:, :hosts]
    complement = laplacian[:hosts, :hosts] - between.T @ np.linalg.solve(
        laplacian[hosts:, hosts:], between
    )
    half = hosts // 2
    bound = float(np.linalg.eigvalsh(complement)[1]) * half * (hosts - half) / hosts
    return max(0, math.ceil(bound - 1e-6))


def bisection_lower_bound(graph: Graph) -> int:
    """Returns the fewest cables that any bisection can cut, by the spectrum.

    A split into S and the rest cuts at least lambda * |S| * (n - |S|) / n cables, where lambda is
    the second smallest eigenvalue of the Laplacian (Fiedler 1973; Mohar 1991). In a regular network
    the cut has the parity of degree * |S|, which sharpens the bound.
    """
    nodes = graph.nodes
    if nodes < 2:
        return 0
    half = nodes // 2
    bound = _algebraic_connectivity(graph) * half * (nodes - half) / nodes
    least = max(0, math.ceil(bound - 1e-6))
    degrees = set(graph.degrees)
    if len(degrees) == 1:
        degree = degrees.pop()
        least += (least - degree * half) % 2  # an odd number of nodes has an even degree
    return least


def _algebraic_connectivity(graph: Graph) -> float:
    """The second smallest eigenvalue of the Laplacian; 0.0 when it cannot be had reliably."""
    from scipy import sparse  # here, since it takes half a second that most commands can spare
    from scipy.sparse import linalg

    first, neighbors = _neighbor_arrays(
        graph.nodes, np.asarray(graph.edges, dtype=np.uint32).reshape(-1, 2)
    )
    adjacency = sparse.csr_matrix(
        (np.ones(len(neighbors)), neighbors, first), shape=(graph.nodes, graph.nodes)
    )
    laplacian = sparse.diags(np.asarray(graph.degrees, dtype=float)) - adjacency
    if graph.nodes <= _DENSE_NODES:
        return float(np.linalg.eigvalsh(laplacian.toarray())[1])
    # Lanczos on c - L finds the small end of L as its large end, without a factorisation.
    shift = 2.0 * max(graph.degrees)
    flipped = shift * sparse.identity(graph.nodes) - laplacian
    start = np.random.default_rng(0).standard_normal(graph.nodes)
    try:
        values, vectors = linalg.eigsh(
            flipped, k=2, which="LA", v0=start, maxiter=300, ncv=min(graph.nodes, 40), tol=1e-4
        )
    except linalg.ArpackNoConvergence:
        return 0.0
    # A Ritz value may be inside the spectrum; its residual says by how much it can be off.
    second = int(np.argmin(values))
    vector = vectors[:, second]
    residual = float(np.linalg.norm(flipped @ vector - values[second] * vector))
    return max(0.0, float(shift - values[second]) - residual)


def _neighbor_arrays(nodes: int, edges: _Edges) -> tuple[list[int], list[int]]:
    """The neighbour lists of all nodes in one list, and where each begins."""
    both = np.concatenate([edges, edges[:, ::-1]]) if len(edges) else edges
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    counts = np.bincount(both[:, 0], minlength=nodes)
    return [0, *np.cumsum(counts).tolist()], both[:, 1].tolist()

"""Networks made for what an application's ranks exchange, ranks in order on the hosts."""

from __future__ import annotations

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.options import Whole
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.optimise import optimise
from searchspace.topology.optimise.heaviest_pairs import join_heaviest
from searchspace.topology.optimise.search import check_size
from searchspace.topology.optimise.traffic import MOST_NODES, too_symmetric, usual_moves

__all__ = ["TAILORED"]


def _obstacle(spec: NetworkSpec) -> str | None:
    if spec.degree is None:
        return "a tailored network needs the machine's degree"
    if spec.nodes > MOST_NODES and spec.whole("iterations") is not None:
        return f"a tailored network of more than {MOST_NODES} nodes is not annealed"
    try:
        check_size(spec.nodes, spec.degree)
    except InvalidInput as error:
        return error.message
    return _asymmetry(spec, spec.degree)


def _asymmetry(spec: NetworkSpec, degree: int) -> str | None:
    """Why the rotation cannot be had that is asked for."""
    symmetry = _symmetry(spec)
    if spec.nodes % symmetry:
        return f"a symmetry of {symmetry} does not divide {spec.nodes} nodes"
    if too_symmetric(spec.nodes, degree, symmetry):
        return f"a symmetry of {symmetry} leaves no cables to exchange; use a smaller one"
    if symmetry > 1 and not _moves(spec):
        return "so large a network is annealed, and has a symmetry, with iterations alone"
    return None


def _symmetry(spec: NetworkSpec) -> int:
    return spec.whole("symmetry") or 1


def _moves(spec: NetworkSpec) -> int:
    return spec.whole("iterations") or usual_moves(spec.nodes)


def _generate(spec: NetworkSpec) -> Graph:
    if spec.degree is None or spec.traffic is None:
        raise ValueError(_obstacle(spec))
    moves = _moves(spec)
    if moves == 0:
        return join_heaviest(spec.traffic, spec.degree, spec.seed)
    return optimise(
        spec.nodes,
        spec.degree,
        objective="traffic",
        method="traffic",
        iterations=moves,
        seed=spec.seed,
        symmetry=_symmetry(spec),
        traffic=spec.traffic,
    )


TAILORED = Family(
    name="tailored",
    description="regular network made for what the application's ranks exchange",
    obstacle=_obstacle,
    generate=_generate,
    uses_degree=True,
    uses_seed=True,
    uses_traffic=True,
    costly=True,
    options=(
        Whole(
            "iterations",
            "moves that it may propose; what takes some seconds if not given, none on large ones",
            1,
            100_000_000,
        ),
        Whole("symmetry", "rotations that map the network onto itself", 1, default=1),
    ),
)

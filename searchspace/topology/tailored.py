"""Networks made for what an application's ranks exchange, ranks in order on the hosts."""

from __future__ import annotations

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.options import Whole
from searchspace.topology.family import Family, Wanted
from searchspace.topology.optimise import optimise
from searchspace.topology.optimise.heaviest_pairs import join_heaviest
from searchspace.topology.optimise.search import check_size
from searchspace.topology.optimise.traffic import MOST_NODES, usual_moves

__all__ = ["TAILORED"]


def _obstacle(wanted: Wanted) -> str | None:
    if wanted.degree is None:
        return "a tailored network needs the machine's degree"
    if wanted.nodes > MOST_NODES and wanted.whole("iterations") is not None:
        return f"a tailored network of more than {MOST_NODES} nodes is not annealed"
    try:
        check_size(wanted.nodes, wanted.degree)
    except InvalidInput as error:
        return error.message
    return None


def _generate(wanted: Wanted) -> Graph:
    if wanted.degree is None or wanted.traffic is None:
        raise ValueError(_obstacle(wanted))
    moves = wanted.whole("iterations") or usual_moves(wanted.nodes)
    if moves == 0:
        return join_heaviest(wanted.traffic, wanted.degree, wanted.seed)
    return optimise(
        wanted.nodes,
        wanted.degree,
        objective="traffic",
        method="traffic",
        iterations=moves,
        seed=wanted.seed,
        traffic=wanted.traffic,
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
    ),
)
